/** What the keys of a tool's input mean, by how tools commonly call them. */
export const keyMeanings = { isPath, isDirectory, isSource, isContent, isResult, isCommand, isCode, isGlob }

function isPath(key: string): boolean {
  return (
    /(?:path|paths|file|files|filename|filenames|uri|uris|target|targets|dest|destination|dst|output|out|to|notebook|location|source|sources|src|from|document|resource|save_?as)$/i.test(
      key,
    ) || isName(key)
  )
}

/** Names of files; the names of other things end in `name` too. */
function isName(key: string): boolean {
  return /^(?:(?:file|path|new|old|base|document|notebook|out|output|dest|target)_?)?names?$/i.test(key)
}

/** Where what has no directory of its own belongs. */
function isDirectory(key: string): boolean {
  return /^(?:cwd|pwd|(?:work(?:ing)?_?|base_?|parent_?|root_?)?(?:dir|directory)|folder|root|base_?path)$/i.test(
    key,
  )
}

function isSource(key: string): boolean {
  return /^(?:src|source|from|old|input)/i.test(key)
}

function isContent(key: string): boolean {
  return /^(?:content|contents|text|new_?(?:text|string|str|content|source)|file_?text|edits|patch|data|body|replacement|diff|bytes|base64)$/i.test(
    key,
  )
}

/** Where a result goes is written to, whatever else a tool does. */
function isResult(key: string): boolean {
  return /^(?:output|out|dest|destination|save)(?:_?(?:path|file|filename|name|to|as|dir))?$|^(?:download|write|export|store)_?(?:path|file|to|as)$/i.test(
    key,
  )
}

function isCommand(key: string): boolean {
  return /^(?:command|cmd|script|shell|shell_?command|command_?line)$/i.test(key)
}

function isCode(key: string): boolean {
  return /^(?:code|source|python|javascript|js|script|expression|cell)$/i.test(key)
}

function isGlob(key: string): boolean {
  return /^(?:globs?|patterns?)$/i.test(key)
}
