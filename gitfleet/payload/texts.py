"""Every sentence of gitfleet.payload, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import FaultTable


class PayloadText(FaultTable):
    """A code, and its sentence with the names of the values in it."""

    ASKS_FUNCTION_NO_FUNCTIONS_RUN = "asks for a function, and no functions run"
    CANNOT_BUILT_HELM_SAYS_NOT = "cannot be built, and what helm says is not shown, because what may be a secret value is in it; run `helm template` to see it"
    CANNOT_BUILT_KUSTOMIZE_SAYS_NOT = "cannot be built, and what kustomize says is not shown, because a value of a Secret is in it; run `kustomize build {folder}` to see it"
    CANNOT_BUILT_MUST_LIST = "cannot be built: {key} must be a list of {what}"
    CANNOT_BUILT_NOTHING_ELSE = "cannot be built: {key} may have {fields} and nothing else"
    CANNOT_READ_LINE = "cannot be read: line {line}: {message}"
    CHART_FIELD = "has a chart that cannot be rendered: {field}: {problem}"
    CHART_IN_SEVERAL_NAMESPACES = (
        "is built for the namespaces {namespaces}, and its charts are rendered once; write the namespace of each chart"
    )
    CHART_MORE_MIB = "{chart} has more than {most_bytes} MiB"
    CHART_NOT_IN_REPO = (
        "needs the chart {name}, which is not in the repo, and nothing is fetched; put the chart into {folder}"
    )
    ENCRYPTED_MORE_DATA_STRINGDATA_SECRETS = "is encrypted in more than the data and stringData of Secrets"
    ENCRYPTED_NOTHING_DECRYPTED_HERE = "is encrypted, and nothing is decrypted here"
    ENCRYPTED_SOPS_NOTHING_DECRYPTED_HELM = (
        "{encrypted} is encrypted with SOPS, and nothing is decrypted for Helm; name a plain file"
    )
    ENCRYPTED_VALUE_NO_TEXT_PUT = "has an encrypted value that is no text (put it in quotes) or of another object"
    FIELD_KUSTOMIZE_NOT_KNOW = 'has the field "{unknown}", which kustomize does not know; {hint}'
    FIELD_WRITE = 'has the field "{key}"; write {meant}'
    FOLDERS_STILL_BUILT = "still being built: {names}"
    FOLDER_TOO_REMOVE_ONE_TWO = "{path} is there as a folder too; remove one of the two"
    GIT_LFS_POINTER = "is a Git LFS pointer, and gitfleet reads only what git itself stores; commit the file without LFS (`git lfs pull`, then `git lfs untrack`)"
    HELM_CHART_NOTHING_RENDERS = "is a Helm chart that nothing renders: add a {helm_release_file} (kind HelmRelease) to its folder, or ignore the folder in {ignore_file}"
    HOLDS_NO_KUSTOMIZATION_YAML = "{folder} holds no kustomization.yaml"
    INLINE_NOT_USED = "has inline {key}, which are not used; put each into a file of the repo and name that"
    KIND_NOT_USED_HERE = "is of a kind that is not used here; only kustomize's own generators and transformers run"
    LEADS_OUT_REPO = "leads out of the repo; name a folder of it"
    LIES_MORE_CHARTS_DEEP = "{path} lies more than {deepest} charts deep"
    MORE_FILES_MIB = "has more than {most_files} files or {most_bytes} MiB, its subcharts unpacked"
    MUST_HOLD_ONE_OBJECT = "must hold one object, of apiVersion {api_version} and kind HelmRelease"
    NAMES_NOT_REPO = "names {target}, which is not in the repo"
    NAMES_NO_FILE_REPO = 'names "{name}", and {target} is no file of this repo'
    NAMES_NO_NAME_FOLDER_CHART = "names {chart}, which has no {chart_file}; name the folder of a chart in this repo"
    NAMES_NO_ORDINARY_FILE = "names {target}, which is no ordinary file"
    NAMES_ONLY_FILES_REPO_BUILT = 'names "{reference}": only files of this repo are built, nothing is fetched; copy it into the repo, and name the copy'
    NAMES_PATH_NO_BRACES = (
        'names "{reference}": a path has no braces; rename the file, or write an inline patch on several lines'
    )
    NAMES_PLUG_CONFIGURATION = "names {target} as a plug-in's configuration, which must be a file of this repo"
    NAMES_WHERE_NO_FILE = "names {chart}, where {linked} is no file"
    NOT_ANY_MORE_ENCRYPTED = "is not there any more as it was encrypted"
    NOT_BUILT_BECAUSE_CANNOT_READ = "was not built, because {user} cannot be read and may build on this folder"
    NOT_BUILT_OTHERS_TOOK = (
        "was not built, because slow folders took {seconds:g} s; correct those that were ended, then try again"
    )
    NOT_BUILT_SINCE_FOLDER_KUSTOMIZATION = (
        "is not built, since its folder has a kustomization too; move one of them to a folder of its own"
    )
    NOT_CHART_FILE = "not a chart's file"
    NOT_ONE_YAML_OBJECT = "is not one YAML object"
    NO_ARCHIVE_READ = "{path} is no archive that can be read; package the chart again"
    NO_CONFIGURATION_KUSTOMIZE_OWN_PLUG = (
        "is no configuration of kustomize's own plug-ins (apiVersion: builtin); no other one runs"
    )
    NO_JSON_READ = "{path} is no JSON that can be read"
    NO_ORDINARY_FILE = "is no ordinary file; put the HelmRelease itself here"
    NO_ORDINARY_FILE_2 = "is no ordinary file"
    OBJECT_WITHOUT_NAME = "an object without a name"
    REFERS_NOTHING_FETCHED = '{path} refers to "{value}"; nothing is fetched, copy it to below $defs of the schema'
    RELEASE_NEEDS_NAMESPACE = "metadata.namespace: is required; add it, or give its Folder a namespace"
    RENDERS_SOMETHING_ELSE_EACH_TIME = "{chart} renders something else each time, in {named}, which would be rolled out at every restart; set the values that make random texts or times unnecessary"
    SCHEMA_USE_ONE_JSON_SCHEMA = '{path} is a schema of "{value}"; use one of json-schema.org'
    STILL_BUILT = "takes long to build; its last good version holds until it is built"
    TOO_LARGE_CUT_OFF = "too large, or cut off"
    TOO_LARGE_READ = "is too large to be read"
    TOO_MANY_FILES = "too many files"

    VARIABLE_NEVER_REPLACED = (
        "has a variable of a cluster, which {program} never sees; use a variant of a Folder, or an override"
    )
