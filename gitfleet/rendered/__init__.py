"""rendered: the files of the rendered branch, and what a commit has to change in them.

    file_path       where an object of a placement on a cluster stands
    file_content    its bytes
    wanted_folders  what each placement is to have on each cluster now
    tree_change     what that changes in the files that are there

Everything here is pure, and a name that people wrote leads nowhere but into its own folder.
"""

from gitfleet.rendered.changes import (
    README_FILE,
    Contents,
    Tree,
    TreeChange,
    commit_message,
    readme_text,
    tree_change,
    tree_of,
)
from gitfleet.rendered.files import file_content, file_path
from gitfleet.rendered.folders import Folders, FoldersMemo, Rendering, wanted_folders

__all__ = [
    "README_FILE",
    "Contents",
    "Folders",
    "FoldersMemo",
    "Rendering",
    "Tree",
    "TreeChange",
    "commit_message",
    "file_content",
    "file_path",
    "readme_text",
    "tree_change",
    "tree_of",
    "wanted_folders",
]
