import { asObject, type JsonObject } from '../../../core/json-fields.ts'
import { readTextInside } from '../../../io/read-text-inside.ts'
import { type JsonFile, parseJsonFile } from '../files/json-file.ts'

/** Where the manifest of a plugin lies, relative to its root. */
export const manifestFile = '.claude-plugin/plugin.json'

export interface Manifest {
  readonly fields: JsonObject
  readonly lineOf: Extract<JsonFile, { kind: 'parsed' }>['lineOf']
  /** As it stands on the disk. */
  readonly text: string
}

export type ManifestRead =
  | { readonly kind: 'read'; readonly manifest: Manifest }
  /** `why` is empty when nothing at all stands there. */
  | { readonly kind: 'missing'; readonly why: string }
  | { readonly kind: 'broken'; readonly why: string }
  | { readonly kind: 'no_object' }

const maxBytes = 1024 * 1024

/** Never through a link that leads out of the plugin, and never waiting. */
export function readManifest(root: string): ManifestRead {
  const read = readTextInside(root, manifestFile, { maxBytes })
  switch (read.kind) {
    case 'missing':
      return { kind: 'missing', why: '' }
    case 'outside':
      return { kind: 'missing', why: read.reason }
    case 'not_a_file':
      return { kind: 'missing', why: `it is ${read.what}` }
    case 'unreadable':
      return { kind: 'missing', why: read.reason }
    case 'too_large':
      return { kind: 'broken', why: `it has ${read.bytes} bytes, more than ${maxBytes}` }
    case 'text': {
      const parsed = parseJsonFile(read.text)
      if (parsed.kind === 'broken')
        return { kind: 'broken', why: `line ${parsed.line}, column ${parsed.column}: ${parsed.text}` }
      const fields = asObject(parsed.value)
      if (fields === null) return { kind: 'no_object' }
      return { kind: 'read', manifest: { fields, lineOf: parsed.lineOf, text: read.text } }
    }
  }
}
