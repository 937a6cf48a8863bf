"""The bundled sample: documents written for this project, their key, and the two shards built from them."""
