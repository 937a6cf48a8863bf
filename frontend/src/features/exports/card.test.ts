import { describe, expect, it } from "vitest";
import { withoutFrontMatter } from "./card";

describe("a data set card", () => {
  it("is shown without its front matter", () => {
    expect(withoutFrontMatter("---\nlanguage:\n- en\n---\n\n# Name\n\ntext\n")).toBe("# Name\n\ntext\n");
    expect(withoutFrontMatter("---\r\na: 1\r\n---\r\n# Name")).toBe("# Name");
    expect(withoutFrontMatter("---\na: 1\n---")).toBe("");
  });

  it("keeps lines of dashes that are not its beginning", () => {
    expect(withoutFrontMatter("# Name\n---\na: 1\n---\n")).toBe("# Name\n---\na: 1\n---\n");
    expect(withoutFrontMatter("---\nnever closed\n")).toBe("---\nnever closed\n");
    expect(withoutFrontMatter("---\na: 1\n---\ntext\n---\nmore")).toBe("text\n---\nmore");
  });
});
