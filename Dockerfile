# The long-lived pod: `gitfleet run REPO`. Build: docker build -t gitfleet .
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY gitfleet ./gitfleet
COPY repo-layout ./repo-layout
RUN python -m venv /opt/gitfleet && /opt/gitfleet/bin/pip install --no-cache-dir ".[forges,sops]"

# Helm in the version that the tests use, by the checksums of its go.sum.
FROM golang:1.26 AS tools
COPY tests/realparts/helm /src/helm
RUN cd /src/helm && CGO_ENABLED=0 go build -mod=readonly -trimpath -ldflags="-s -w" -o /out/ helm.sh/helm/v3/cmd/helm
RUN CGO_ENABLED=0 GOBIN=/out go install -trimpath -ldflags="-s -w" sigs.k8s.io/kustomize/kustomize/v5@v5.7.1

FROM python:3.11-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git openssh-client gpg ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 65532 --create-home gitfleet
COPY --from=build /opt/gitfleet /opt/gitfleet
COPY --from=tools /out/ /usr/local/bin/
ENV PATH=/opt/gitfleet/bin:$PATH GITFLEET_CACHE_DIR=/home/gitfleet/cache
USER 65532
ENTRYPOINT ["gitfleet"]
CMD ["--help"]
