import { keyMeanings } from './key-meanings.ts'

export interface Field {
  readonly key: string
  readonly value: string
}

/** Every text in the input with the key it stands under, within bounds. */
export function inputFields(input: unknown): readonly Field[] {
  const found: Field[] = []
  visit('', input, 0)
  return found

  function visit(key: string, value: unknown, depth: number): void {
    if (found.length >= maxFields || depth > maxDepth) return
    if (typeof value === 'string') {
      found.push({ key, value })
      // What is written into a file is nobody's input, whatever it looks like.
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

/** Each object of the input, also one that stands in it as text. */
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

/** `files: { '.env': 'text' }`, `changes: { 'file:///…': […] }`: the names in it are the paths. */
function namesFile(key: string, name: string): boolean {
  if (/^file:/i.test(name)) return true
  if (/^(?:files|paths|documents|uris)$/i.test(key))
    return !(keyMeanings.isPath(name) || keyMeanings.isContent(name))
  const holds = keyMeanings.isPath(key) || /^(?:changes|edits|contents?|tree|modifications)$/i.test(key)
  return holds && /[./\\]/.test(name)
}

/** An input within the input, as text. */
function parsedText(text: string): unknown {
  if (!/^\s*[{[]/.test(text) || text.length > 65_536) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
