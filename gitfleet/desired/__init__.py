"""desired: files at a commit become typed objects, or faults with path, line and field.

Nothing past this door sees raw YAML of ours (payload bodies excepted: they are the users' own objects).

    parse_file(path, content) -> ParsedFile        one blob; keyed by blob id, so the caller may cache its encoded form
    read_desired(request) -> Desired               the whole tree; a cheap pass over parsed files

`read_desired` takes `DesiredRequest(commit, files, last_good, accepted, contents)`:
    files      {path: SourceFile(entry mode, blob id, size, parsed: ParsedFile | None)} of the commit (parsed None: unreadable, with why)
    last_good  {path: SourceFile} the last good version of files that may turn out faulty (given for every path whose blob
               changed since the observed commit, and for those that the state branch holds as last good)
    accepted   FleetState: the last accepted version of each placement and cluster, for the checks on updates (D21)
    contents   callable (blob id) -> bytes, for finding the line of a faulty field; pure from the room's view
"""
