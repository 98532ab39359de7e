"""Every sentence of gitfleet.adapters.kube, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class KubeText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ADD_UNDER = "add it under {kind}"
    ALLOW_GITFLEET_SERVICE_ACCOUNT_GET = "allow gitfleet's service account to get it"
    ANSWERS_API_SERVER_NONE = "what answers as the API server of {wire} is none: {why}"
    API_SERVER_GAVE_INSTEAD_JSON = "the API server of {name} gave {what} instead of JSON for {asked}"
    API_SERVER_GAVE_JSON_ANOTHER = "the API server of {cluster} gave JSON of another shape than Kubernetes has"
    API_SERVER_NOT_ANSWER = "the API server of {name} did not answer: {error}"
    API_SERVER_REFUSED_CREDENTIALS = "the API server of {wire} refused the credentials"
    API_SERVER_REFUSES_EVENT_STATUS = "the API server refuses an Event with status {status}"
    API_SERVER_SAYS_NOT_READY = "the API server says that it is not ready: {text}"
    BEING_DELETED = "{need}, which is being deleted"
    CANNOT_READ = "{source} cannot be read: {error}"
    CANNOT_READ_2 = "the %s of %s on %s cannot be read: %s"
    CERTIFICATES_KUBECONFIG_CANNOT_USED = "the certificates of its kubeconfig cannot be used"
    CLIENT_CERTIFICATE_NEEDS_TEMPORARY_DIRECTORY = "its client certificate needs a temporary directory: {strerror}"
    CLUSTER_GITFLEET_RUNS = "{name} is the cluster that gitfleet runs in, which is not allowed here"
    CLUSTER_GITFLEET_RUNS_RUNS_NONE = "{what} is in the cluster that gitfleet runs in, and it runs in none"
    CLUSTER_LEASE = "the cluster of the lease"
    CLUSTER_NAMES_KUBECONFIG = 'cluster {name} names the kubeconfig "{file}", which is not a plain file name'
    CLUSTER_NAMES_SECRET = "cluster {name} names the Secret {namespace}/{secret}, and gitfleet reads {where}"
    CLUSTER_NOT_REACHED_API_SERVER = (
        "cluster {name} is not reached by the API server of its own: its connection is {kind}"
    )
    CLUSTER_NO_CONNECTION = "cluster {cluster} has no connection"
    CLUSTER_NO_KIND = 'the cluster has no kind "{key}" in {api_version}'
    CLUSTER_OTHER_VERSIONS = "the cluster has {key} in other versions than {api_version}"
    CLUSTER_REACHED_CONTEXT_NO_KUBECONFIG = (
        'cluster {name} is reached by the context "{context}" and there is no kubeconfig'
    )
    CLUSTER_REACHED_KUBECONFIG_NO_FOLDER = "cluster {name} is reached by the kubeconfig {file} and there is no folder"
    CORRECT_CERTIFICATE_AUTHORITY_DATA = (
        "correct certificate-authority-data, client-certificate-data and client-key-data; a key has no password"
    )
    COULD_NOT_APPLIED = "{need}, which could not be applied"
    CREATE_KUBECONFIG_INSIDE = "create it with a kubeconfig inside"
    CREDENTIAL_PLUG_CANNOT_RUN = "the credential plug-in {name} cannot be run: {why}"
    CREDENTIAL_PLUG_FAILED = "the credential plug-in {name} failed with exit code {code}: {complaint}"
    CREDENTIAL_PLUG_NOT_ANSWER = "the credential plug-in {name} did not answer in {seconds:g} s"
    CREDENTIAL_PLUG_NOT_PATH = "the credential plug-in {command} is not on the PATH"
    CREDENTIAL_PLUG_NO_EXECCREDENTIAL = "the credential plug-in {name} did not print an ExecCredential"
    DATA_NOT_BASE64_PEM_TEXT = "{source}: {field}-data is not base64 of a PEM text"
    DELETED_REPLACED_BETWEEN = "was deleted or replaced in between"
    DELETION_WITHOUT_PERMIT = "{operation}: the removal gate has not permitted this deletion"
    DRY_RUN_REFUSED = "the dry run was refused: {message}"
    EMPTY_CONNECTION = "an empty connection"
    EVENT_POD = "the Event of this pod"
    FACTORY_MADE_NOT_DERIVE_FROM = "its factory made a {name}, which does not derive from PropertyProvider"
    FAILED_START_PROPERTY_PROVIDER = "Failed to start the property provider: {error_text}"
    FILE_CANNOT_READ = "{source}: the file of {field} cannot be read"
    GAVE_NOT_COLLECTED = "it gave a {name} and not a Collected"
    GAVE_STATUS = "{name} gave status {status}"
    GITFLEET_NOT = "gitfleet may not {verb} {name}"
    GITFLEET_NOT_WRITE_EVENTS_NAMESPACE = "gitfleet may not write Events in namespace {namespace}"
    GITFLEET_OWN_CLUSTER = "gitfleet's own cluster"
    GIVE_ANOTHER_CONNECTION = "give it another connection, or start gitfleet without --in-cluster never"
    GIVE_CERTIFICATE_AUTHORITY_DATA_HTTPS = "give it certificate-authority-data and an https address"
    GIVE_GITFLEET_ENVIRONMENT_VARIABLE_HTTPS = (
        "give gitfleet the environment variable HTTPS_PROXY, or the kubeconfig as a file"
    )
    GIVE_GITFLEET_KUBECONFIG_FILE_KUBECONFIG = (
        "give gitfleet this kubeconfig as a file (--kubeconfig, --kubeconfig-dir), or put a token into it"
    )
    GROUPS_API = "the groups of its API"
    HAS_NO = '{source} has no {kind} "{name}"'
    IMPERSONATES_GROUPS_NOT_SUPPORTED = "{source} impersonates groups, which is not supported"
    INSTALL_OR_PUT_ON_PATH = "install it, or put it on the PATH of this process"
    IS_GONE = "is gone"
    IS_NOT_THERE = "{what} is not there"
    KEY_NOT_BASE64 = 'the key "{key}" of {what} is not base64'
    KINDS = "the kinds of {prefix}"
    KINDS_SERVER_NAMES_VERSION_NOT = "the kinds of {prefix}: the server names this version and not its kinds"
    KUBECONFIG = "the kubeconfig {path} of {name}"
    KUBECONFIG_SECRET = "the kubeconfig in Secret {namespace}/{secret} of {name}"
    LEFT_ALONE_SINCE_EARLIER_STEP = "is left alone, since an earlier step failed: {failed}"
    MADE_SOMEBODY_ELSE_BETWEEN = "was made by somebody else in between"
    MORE_OBJECTS = "{path} of {name} has more than {page} objects"
    MUST_LINE_PLAIN_TEXT = "{source}: {field} must be a line of plain text"
    MUST_LIST_MAPPINGS = "{what} must be a list of mappings"
    MUST_MAPPING = "{what} must be a mapping"
    NAMES_FILE_NOT_ALLOWED = "{source}: {field} names a file, which is not allowed there"
    NAMES_NO_SERVER = "{source} names no server address (https://...)"
    NAMES_PROXY_NOT_ALLOWED = "{source} names a proxy, which is not allowed there"
    NAME_FILE_FOLDER_GIVEN_KUBECONFIG = "name a file of the folder given with --kubeconfig-dir, without any path"
    NAME_ONE_SPEC_CONNECTION_CONTEXT = "name one in spec.connection.context"
    NAME_VALUE_NO_TEXT_MOST = "a name or a value is no text of at most {longest_value} characters"
    NEEDS = "needs {missing}"
    NEEDS_CREATE_PATCH_EVENTS_EVENTS = "it needs create and patch of events in events.k8s.io (docs/notifications.md)"
    NEEDS_VERBS_GET = "it needs the verbs get, create and update of leases in coordination.k8s.io (docs/scaling.md)"
    NO = "{wire} has no {name} of {number}"
    NOT_CHECK_WHO_API_SERVER = "{source} does not check who the API server is, which is not allowed"
    NOT_ESTABLISHED_YET = "{need}, which is not Established yet"
    NOT_KUBECONFIG = "{source} is not a kubeconfig"
    NOT_REACHED_HTTP = "{name} is not reached by HTTP"
    NO_CURRENT_CONTEXT = "{source} has no current context"
    NO_KEY = '{what} has no key "{key}"'
    NO_NAMESPACE = "there is no namespace {namespace} for {name}"
    NO_NAME_OBJECT = '"{name}" is no name of an object'
    NO_PROPERTY_PROVIDER = "there is no property provider {one}; installed are {known}"
    NO_SECRETS_SINCE_RUNS_NO = "no Secrets, since it runs in no pod"
    NO_SELECTOR = "it has no selector"
    OTHER_PROXIES_NOT_WORK = "other proxies do not work"
    PATCH_NAMES_OBJECT_VERSION = "a patch names the object and version it is for"
    POD_SERVICE_ACCOUNT_NO_CA = "the pod's service account has no ca.crt"
    PROCESS_NOT_LEAD_ANY_MORE = "this process does not lead any more, and sent it nothing"
    PROPERTY_PROVIDER_NOT_RESPOND_TIME = "The property provider does not respond in time"
    PROPERTY_PROVIDER_NOT_START_UP = "The property provider does not start up in time"
    PROPERTY_PROVIDER_RETURNED_LATEST_CLUSTER = "The property provider has returned the latest cluster properties"
    PROPERTY_PROVIDER_STARTED_SUCCESSFULLY = "The property provider has started successfully"
    PROVIDER_CORE_TAKES_ONE_ARGUMENT = 'the provider core takes one argument, "available", which is true or false'
    PROXY_URL_NO_HTTP_HTTPS = "{source}: proxy-url is no http or https address"
    PUT_CONTENT_ITSELF_CERTIFICATE_AUTHORITY = (
        "put the content itself there (certificate-authority-data, client-key-data, token and so on)"
    )
    RESPONSE_LARGER_MIB = "the response is larger than {limit} MiB"
    ROLLOUT_DELETES_NOTHING_BUT_PODS = "a rollout deletes nothing but pods, and none without its uid"
    RUN_GITFLEET_POD = "run gitfleet as a pod there, or {otherwise}"
    SAY_HOW_REACH_SPEC_CONNECTION = "say how to reach it in spec.connection, such as {context: NAME}"
    SELECTOR_TAKES_MORE = "its selector takes more than {most} {plural}"
    SERVED_API_SERVER_EXTENSION = "{key} is served by an API server of an extension, which may know no dry run"
    SERVER_ANSWERED_ANOTHER_OBJECT = "the server answered with another object"
    SERVER_ANSWERED_DELETED = "the server answered that it was deleted, and it is still there"
    SERVER_ANSWERED_NOT_SAY_OBJECT = "the server answered 404 and does not say that this object is not there: {message}"
    SERVER_GAVE_NO_VERSION_LIST = "{path}: the server gave no version of the list"
    SERVER_RESPONSE_NO = "{what}: the server's response has no {field}"
    SET_TMPDIR_FOLDER_WRITTEN = "set TMPDIR to a folder that can be written"
    START_GITFLEET_ALLOW_EXEC_IF = "start gitfleet with --allow-exec {command} if you trust it"
    START_GITFLEET_KUBECONFIG_DIR_FOLDER = "start gitfleet with --kubeconfig-dir FOLDER"
    START_GITFLEET_KUBECONFIG_FILE = "start gitfleet with --kubeconfig FILE"
    START_GITFLEET_SECRET_NAMESPACE_IF = (
        "start gitfleet with --secret-namespace {namespace} if kubeconfigs are kept there"
    )
    TOKEN_FILE_KUBECONFIG_CANNOT_READ = "the token file of a kubeconfig cannot be read, or holds no token: {error}"
    TOKEN_NO_SPACES = "a token has no spaces, line ends or letters beyond ASCII"
    TOOK_MORE_DRY_RUNS_BEFORE = "{wire} took more than {begun_within:g} s for the dry runs before that of {manifest}"
    TOO_MANY_GOING_CALLS_PROPERTY = (
        "There are too many on-going calls to the property provider; will retry if some calls return"
    )
    USES_AUTH_PROVIDER = "{source} uses an auth-provider, which Kubernetes has removed"
    USE_EXEC_PLUG = "use an exec plug-in, a token or a client certificate"
    WANTS_CREDENTIAL_PLUG = "{source} wants a credential plug-in of {version}, which is not supported"
    WANTS_RUN_NOT_ALLOWED = '{source} wants to run "{command}", which is not allowed'
    WANTS_RUN_PROGRAM = "{source} wants to run a program, which is never allowed there"
    WHICH_IS_NOT_THERE = "{need}, which is not there"
