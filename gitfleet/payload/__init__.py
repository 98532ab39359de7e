"""payload: from the files of the repo to objects: kustomize, Helm, and Secrets that SOPS encrypted."""
