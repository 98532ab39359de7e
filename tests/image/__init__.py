"""The image: its Dockerfile is read, and its steps run in root file systems where no container engine is needed."""
