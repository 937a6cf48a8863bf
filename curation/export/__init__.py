"""From a measured run to a folder that a trainer loads: curriculum, matched control, manifest, card; and its verification."""
