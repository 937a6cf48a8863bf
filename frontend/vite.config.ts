import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The API that `npm run dev` asks: `primer up` where it listens by default.
const api = process.env.PRIMER_API ?? "http://127.0.0.1:8642";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": fileURLToPath(new URL("src", import.meta.url)) } },
  build: {
    target: "es2022",
    // Nothing is inlined as data: the content security policy allows what comes from the service itself and no more.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": api, "/healthz": api, "/readyz": api } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
