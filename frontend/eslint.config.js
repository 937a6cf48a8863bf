import jsxA11y from "eslint-plugin-jsx-a11y";
import reactHooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist", "node_modules", "src/api/schema.ts"] },
  ...tseslint.configs.strict,
  jsxA11y.flatConfigs.recommended,
  reactHooks.configs.flat["recommended-latest"],
  {
    rules: {
      "no-console": "error",
      eqeqeq: "error",
      // A dialog and a page that is one form begin in their first field.
      "jsx-a11y/no-autofocus": "off",
      // Text of documents is only ever rendered as text.
      "no-restricted-syntax": [
        "error",
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "Render it as text." },
        {
          selector: "MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML)$/]",
          message: "Render it as text.",
        },
      ],
    },
  },
  {
    files: ["src/features/**"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              group: ["@/features/*", "../*"],
              message: "Features do not know each other: share through components or api.",
            },
            { group: ["@/app/*"], message: "The app knows its features, not the other way round." },
          ],
        },
      ],
    },
  },
  {
    files: ["src/components/**", "src/words/**", "src/api/**"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [{ group: ["@/features/*", "@/app/*"], message: "What is shared knows nothing of who uses it." }],
        },
      ],
    },
  },
  { files: ["scripts/**"], rules: { "no-console": "off" } },
);
