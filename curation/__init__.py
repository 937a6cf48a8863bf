"""The curation library: measures documents, decides over what was measured, audits and exports; knows no web, SQL state or broker."""
