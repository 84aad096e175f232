import { asObject, type JsonObject } from '../../../core/json-fields.ts'
import { didYouMean, nearest } from '../../../core/nearest.ts'
import { readTextInside } from '../../../io/read-text-inside.ts'
import { describeType } from '../describe-type.ts'
import { type JsonFile, parseJsonFile } from '../files/json-file.ts'
import type { PluginFiles } from '../files/plugin-files.ts'
import type { Notes } from '../notes.ts'

/** Path of the manifest relative to the plugin's root. */
export const manifestFile = '.claude-plugin/plugin.json'

export interface PluginManifest {
  readonly fields: JsonObject
  readonly lineOf: Extract<JsonFile, { kind: 'parsed' }>['lineOf']
  /** Unchanged, as read from disk. */
  readonly text: string
}

/** A plugin while it is read: what every step needs to look at, and where it reports problems. */
export interface PluginSource {
  readonly name: string
  readonly manifest: PluginManifest
  readonly files: PluginFiles
  readonly notes: Notes
}

export type ManifestRead =
  | { readonly kind: 'read'; readonly manifest: PluginManifest }
  /** `why` is empty when the file does not exist. */
  | { readonly kind: 'missing'; readonly why: string }
  | { readonly kind: 'broken'; readonly why: string }
  | { readonly kind: 'no_object' }

const maxBytes = 1024 * 1024

/** Never follows a link out of the plugin, and never blocks. */
export function readManifest(root: string): ManifestRead {
  const read = readTextInside(root, manifestFile, { maxBytes })
  switch (read.kind) {
    case 'missing':
      return { kind: 'missing', why: '' }
    case 'not_a_file':
      return { kind: 'missing', why: `it is ${read.what}` }
    case 'outside':
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

/** What Claude Code goes by: the manifest, or an empty one when there is none. null when it cannot be read. */
export function usedManifest(root: string): PluginManifest | null {
  const read = readManifest(root)
  if (read.kind === 'read') return read.manifest
  return read.kind === 'missing' && read.why === '' ? { fields: {}, lineOf: () => 1, text: '' } : null
}

interface Expected {
  readonly words: string
  readonly fits: (value: unknown) => boolean
}

const text: Expected = { words: 'a text', fits: (value) => typeof value === 'string' }
const address: Expected = {
  words: 'an address such as https://example.com',
  fits: (value) => typeof value === 'string' && URL.canParse(value),
}
const object: Expected = { words: 'an object', fits: (value) => asObject(value) !== null }
const list: Expected = { words: 'a list', fits: Array.isArray }
const truth: Expected = { words: 'true or false', fits: (value) => typeof value === 'boolean' }
const texts: Expected = {
  words: 'a list of texts',
  fits: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
}
const paths: Expected = {
  words: 'a path or a list of paths',
  fits: (value) => text.fits(value) || texts.fits(value),
}
const mixed: Expected = {
  words: 'a path, an object, or a list of them',
  fits: (value) =>
    text.fits(value) ||
    object.fits(value) ||
    (Array.isArray(value) && value.every((each) => text.fits(each) || object.fits(each))),
}
const commands: Expected = {
  words: 'a path, a list of paths, or an object of commands',
  fits: (value) => paths.fits(value) || object.fits(value),
}
const anything: Expected = { words: 'anything', fits: () => true }

/** Keys of a manifest as Claude Code 2.1.325 checks them. With one wrong type it loads nothing of the plugin. */
const known: Readonly<Record<string, Expected>> = {
  $schema: text,
  name: text,
  displayName: text,
  version: text,
  description: text,
  author: object,
  homepage: address,
  repository: text,
  license: text,
  keywords: texts,
  metadata: object,
  icon: text,
  privacyPolicyUrl: text,
  supportUrl: text,
  termsOfServiceUrl: text,
  defaultEnabled: truth,
  skills: paths,
  commands,
  agents: paths,
  workflows: anything,
  hooks: mixed,
  mcpServers: mixed,
  outputStyles: paths,
  lspServers: mixed,
  themes: anything,
  monitors: anything,
  settings: object,
  experimental: object,
  userConfig: object,
  channels: list,
  dependencies: list,
}

/** Keys of an entry of a marketplace. In a manifest they are harmless and unused. */
const ofMarketplace = ['category', 'tags', 'strict', 'source']

/** How a path under a key ends, and what is loaded without the key. With another ending Claude Code loads nothing of the plugin. */
const endings: Readonly<Record<string, readonly [loaded: string, ...endings: string[]]>> = {
  agents: ['agents/', '.md'],
  hooks: ['hooks/hooks.json', '.json'],
  mcpServers: ['.mcp.json', '.json', '.mcpb', '.dxt'],
  lspServers: ['.lsp.json', '.json'],
}

/** Whether a path of the manifest unloads the plugin, which `checkManifest` reports. */
export function hasWrongEnding(key: string, path: string): boolean {
  const [, ...ends] = endings[key] ?? ['']
  return ends.length > 0 && !ends.some((end) => path.endsWith(end))
}

function noteEndings({ fields, lineOf }: Pick<PluginManifest, 'fields' | 'lineOf'>, notes: Notes): void {
  for (const [key, [loaded, ending]] of Object.entries(endings))
    for (const [index, path] of [fields[key]].flat().entries())
      if (typeof path === 'string' && /^\.\.?\//.test(path) && hasWrongEnding(key, path))
        notes.add('PATH_REFUSED', {
          message: `${key} names ${path}, which is not a ${ending} file, so Claude Code loads nothing of this plugin`,
          suggestion: `Name each ${ending} file, or remove ${key}: ${loaded} is loaded anyway.`,
          unloads: true,
          path: manifestFile,
          line: lineOf(Array.isArray(fields[key]) ? [key, index] : [key]),
        })
}

/** Checks types, unknown keys, the endings of paths and the name. Paths are checked where they are followed. */
export function checkManifest({ fields, lineOf }: PluginManifest, notes: Notes): void {
  for (const [key, value] of Object.entries(fields)) {
    const expected = Object.hasOwn(known, key) ? known[key] : undefined
    const at = { path: manifestFile, line: lineOf([key]) }
    if (expected === undefined) {
      const near = nearest(key, Object.keys(known))
      notes.add('MANIFEST_UNKNOWN_KEY', {
        message: `Claude Code does not know the key '${key}'`,
        suggestion: ofMarketplace.includes(key)
          ? 'Move it to the entry of the plugin in marketplace.json.'
          : didYouMean(key, Object.keys(known), 'Remove it.'),
        severity: near === undefined || ofMarketplace.includes(key) ? 'info' : 'warning',
        ...at,
      })
    } else if (!expected.fits(value))
      notes.add('MANIFEST_TYPE', {
        message: `${key} is ${describeType(value)}, so Claude Code loads nothing of this plugin`,
        suggestion: `Write ${expected.words}.`,
        unloads: true,
        ...at,
      })
  }
  noteEndings({ fields, lineOf }, notes)
  const { name } = fields
  if (typeof name === 'string' && refusedName.test(name))
    notes.add('PLUGIN_NAME_REFUSED', {
      message: `Claude Code refuses the name ${JSON.stringify(name)}`,
      unloads: true,
      path: manifestFile,
      line: lineOf(['name']),
    })
  const missing = ['version', 'description', 'author'].filter((key) => fields[key] === undefined)
  if (missing.length > 0)
    notes.add('MANIFEST_INCOMPLETE', {
      message: `the manifest has no ${missing.join(', no ')}`,
      path: manifestFile,
      line: 1,
    })
}

/** Blanks, separators and invisible characters. */
const refusedName = /[\s@:/\\\p{Cc}\p{Cf}]/u
