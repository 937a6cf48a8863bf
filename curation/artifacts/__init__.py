"""Models and tables: bundled with the library, in a folder of the user's, or pulled from the Hub; hashes checked."""
