export interface InputField {
  readonly key: string
  readonly value: string
}

/** Every text in the input with its key, up to a limit. */
export function inputFields(input: unknown): readonly InputField[] {
  const found: InputField[] = []
  visit('', input, 0)
  return found

  function visit(key: string, value: unknown, depth: number): void {
    if (found.length >= maxFields || depth > maxDepth) return
    if (typeof value === 'string') {
      found.push({ key, value })
      // The content of a file is not parsed as input, even when it looks like JSON.
      if (!keyMeanings.isContent(key)) visit(key, parsedText(value), depth + 8)
    } else if (Array.isArray(value)) {
      for (const each of value) visit(key, each, depth + 1)
      if (/path$/i.test(key) && value.length > 1 && value.every((each) => typeof each === 'string'))
        found.push({ key, value: value.join('/') })
    } else if (typeof value === 'object' && value !== null)
      for (const [name, each] of Object.entries(value)) {
        if (namesFile(key, name)) found.push({ key: 'file', value: name })
        visit(name, each, depth + 1)
      }
  }
}

/** Each object of the input, including objects in JSON text. */
export function inputObjects(input: unknown): readonly Readonly<Record<string, unknown>>[] {
  const found: Record<string, unknown>[] = []
  visit('', input, 0)
  return found

  function visit(key: string, value: unknown, depth: number): void {
    if (found.length >= maxFields || depth > maxDepth) return
    if (typeof value === 'string') {
      if (!keyMeanings.isContent(key)) visit(key, parsedText(value), depth + 8)
    } else if (Array.isArray(value)) for (const each of value) visit(key, each, depth + 1)
    else if (typeof value === 'object' && value !== null) {
      found.push({ ...value })
      for (const [name, each] of Object.entries(value)) visit(name, each, depth + 1)
    }
  }
}

const maxFields = 500
const maxDepth = 32

/** `files: { '.env': 'text' }`, `changes: { 'file:///…': […] }`: the keys are the paths. */
function namesFile(key: string, name: string): boolean {
  if (/^file:/i.test(name)) return true
  if (/^(?:files|paths|documents|uris)$/i.test(key))
    return !(keyMeanings.isPath(name) || keyMeanings.isContent(name))
  const holds = keyMeanings.isPath(key) || /^(?:changes|edits|contents?|tree|modifications)$/i.test(key)
  return holds && /[./\\]/.test(name)
}

/** JSON text within the input. */
function parsedText(text: string): unknown {
  if (!/^\s*[{[]/.test(text) || text.length > 65_536) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The meaning of keys in a tool input, by common naming. */
export const keyMeanings = { isPath, isDirectory, isSource, isContent, isResult, isCommand, isCode, isGlob }

function isPath(key: string): boolean {
  return (
    /(?:path|paths|file|files|filename|filenames|uri|uris|target|targets|dest|destination|dst|output|out|to|notebook|location|source|sources|src|from|document|resource|save_?as)$/i.test(
      key,
    ) || isName(key)
  )
}

/** Keys for file names. Names of other things end in `name` too. */
function isName(key: string): boolean {
  return /^(?:(?:file|path|new|old|base|document|notebook|out|output|dest|target)_?)?names?$/i.test(key)
}

/** The base directory for relative names. */
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

/** Keys for output files, which are written whatever else a tool does. */
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
