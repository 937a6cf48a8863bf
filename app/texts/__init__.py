"""Try a text: what a posted text measures and how any profile decides it. Nothing of it is kept."""
