# Targets: cpu (API, workers, commands) and cuda (encoder workers on NVIDIA GPUs).
# Everything comes from lock files: uv.lock for Python, package-lock.json for the workbench.

FROM node:22-trixie-slim AS workbench
WORKDIR /frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci
COPY frontend/ ./
RUN npm run build

FROM python:3.11-slim-trixie AS build-cpu
RUN pip install --no-cache-dir uv==0.13.9
ENV UV_PYTHON_DOWNLOADS=never \
    UV_PROJECT_ENVIRONMENT=/opt/primer \
    UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy
WORKDIR /src
# The dependencies first: they change less often than the code.
COPY pyproject.toml uv.lock ./
RUN uv sync --locked --no-dev --no-install-project --extra postgres --extra s3
COPY README.md LICENSE NOTICE hatch_build.py ./
COPY curation/ curation/
COPY app/ app/
COPY cli/ cli/
COPY workers/ workers/
COPY migrations/ migrations/
COPY primer/ primer/
COPY --from=workbench /frontend/dist/ frontend/dist/
RUN uv sync --locked --no-dev --no-editable --extra postgres --extra s3

FROM build-cpu AS build-cuda
RUN uv sync --locked --no-dev --no-editable --extra postgres --extra s3 --extra gpu

FROM python:3.11-slim-trixie AS runtime
# libgomp for the models; pg_dump and pg_restore for backups, of the version of the compose file's server.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 postgresql-client-17 \
    && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 primer \
    && useradd --uid 10001 --gid primer --create-home primer \
    && mkdir /data \
    && chown primer:primer /data
ENV PATH=/opt/primer/bin:$PATH \
    PRIMER_DATA_DIR=/data \
    OMP_NUM_THREADS=1
USER primer
WORKDIR /home/primer
VOLUME /data
EXPOSE 8642
CMD ["primer", "--help"]

FROM runtime AS cuda
COPY --from=build-cuda /opt/primer /opt/primer
ENV PRIMER_ENCODER_DEVICE=cuda \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility

FROM runtime AS cpu
COPY --from=build-cpu /opt/primer /opt/primer
