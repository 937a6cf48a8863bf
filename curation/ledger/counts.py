"""Tokens of a document: the source's own count where it is possible, else an estimate from its bytes that is always called one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# English web text runs at about 4.6 UTF-8 bytes a GPT-2 token, the tokens that FineWeb's token_count counts.
BYTES_PER_TOKEN = 4.6


def count_tokens(core: pa.Table) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Tokens of each row (0 where the row has an error) and whether they are estimated because the source has no count."""
    has_error = pc.is_valid(core["error"]).to_numpy()
    stated = core["token_count"].fill_null(-1).to_numpy()
    estimated = np.ceil(core["n_bytes"].fill_null(0).to_numpy() / BYTES_PER_TOKEN).astype(np.int64)
    # A token is at least a byte: a larger count is an error of the source, and one such row would outweigh a corpus.
    is_estimated = ((stated < 0) | (stated > core["n_bytes"].fill_null(0).to_numpy())) & ~has_error
    return np.where(has_error, 0, np.where(is_estimated, estimated, stated)), is_estimated
