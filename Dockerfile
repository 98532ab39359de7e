# The long-lived pod: `gitfleet run REPO`. Build: docker build -t gitfleet .
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY gitfleet ./gitfleet
COPY repo-layout ./repo-layout
RUN python -m venv /opt/gitfleet && /opt/gitfleet/bin/pip install --no-cache-dir ".[forges]"

FROM python:3.11-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git openssh-client gpg ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 65532 --create-home gitfleet
COPY --from=build /opt/gitfleet /opt/gitfleet
ENV PATH=/opt/gitfleet/bin:$PATH GITFLEET_CACHE_DIR=/home/gitfleet/cache
USER 65532
ENTRYPOINT ["gitfleet"]
CMD ["--help"]
