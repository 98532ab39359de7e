# The long-lived pod: `gitfleet run REPO` (docs/deploy.md). Build: docker build --tag gitfleet .
#
# A tag may name another image tomorrow. A release names both bases by digest, which only the registry can say
# (docs/deploy.md#base-images): docker build --build-arg PYTHON_IMAGE=python@sha256:... --build-arg GO_IMAGE=golang@sha256:... .
ARG PYTHON_IMAGE=python:3.11-slim-bookworm
ARG GO_IMAGE=golang:1.26-bookworm

FROM ${PYTHON_IMAGE} AS build
WORKDIR /src
COPY locks ./locks
# Exactly the files of the locks: no dependency is followed, and nothing is built from source but gitfleet itself.
RUN python3 -m venv /opt/build \
    && /opt/build/bin/pip install --no-cache-dir --require-hashes --no-deps --only-binary=:all: -r locks/build.txt \
    && python3 -m venv --without-pip /opt/gitfleet \
    && /opt/build/bin/pip --python /opt/gitfleet/bin/python install --no-cache-dir --require-hashes --no-deps \
       --only-binary=:all: -r locks/runtime.txt
COPY pyproject.toml README.md LICENSE ./
COPY gitfleet ./gitfleet
COPY repo-layout ./repo-layout
COPY ci ./ci
RUN /opt/build/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /out . \
    && /opt/build/bin/pip --python /opt/gitfleet/bin/python install --no-cache-dir --no-deps --no-index /out/*.whl \
    && /opt/build/bin/pip --python /opt/gitfleet/bin/python check

# Helm and kustomize in the versions that the tests build, by the checksums of their go.sum.
FROM ${GO_IMAGE} AS tools
ENV CGO_ENABLED=0
COPY tests/realparts/programs /src
RUN cd /src && go build -mod=readonly -trimpath -ldflags="-s -w" -o /out/ \
    helm.sh/helm/v3/cmd/helm sigs.k8s.io/kustomize/kustomize/v5

FROM ${PYTHON_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="gitfleet" \
      org.opencontainers.image.description="The git repository is the hub of a fleet of Kubernetes clusters" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git gpg openssh-client tini \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 65532 gitfleet \
    && useradd --uid 65532 --gid 65532 --create-home gitfleet \
    && install --directory --owner=gitfleet --group=gitfleet --mode=0700 /home/gitfleet/cache
COPY --from=build /opt/gitfleet /opt/gitfleet
COPY --from=tools /out/ /usr/local/bin/
# All that is written at run time: the cache folder, which may be lost, and /tmp. The root may be read-only.
ENV PATH=/opt/gitfleet/bin:/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOME=/home/gitfleet \
    GITFLEET_CACHE_DIR=/home/gitfleet/cache \
    TMPDIR=/tmp
WORKDIR /home/gitfleet
USER 65532:65532
# tini is process 1: it waits for whatever git, helm, kustomize and login plug-ins leave behind.
ENTRYPOINT ["/usr/bin/tini", "--", "gitfleet"]
CMD ["--help"]
