import { asObject, type JsonObject } from '../../../core/json-fields.ts'
import { type JsonFile, parseUnmarkedJson } from '../files/json-file.ts'
import type { PluginFiles } from '../files/plugin-files.ts'
import { declaredPaths } from '../manifest/declared-paths.ts'
import { type Manifest, manifestFile } from '../manifest/read-manifest.ts'
import type { Notes } from '../notes.ts'
import { typeWord } from '../type-word.ts'
import { hookEvents } from './hook-events.ts'

/** Hooks of one file, or of the manifest itself. */
export interface HookFile {
  readonly path: string
  readonly events: JsonObject
  lineOf(path: readonly (string | number)[]): number
}

const standard = 'hooks/hooks.json'

/** `hooks/hooks.json`, then what stands in the manifest, then the files it names: as Claude Code runs them. */
export function hookFiles(files: PluginFiles, manifest: Manifest, notes: Notes): readonly HookFile[] {
  const declared = declaredPaths(manifest, 'hooks', files, notes)
  const named = declared?.paths ?? []
  const twice = named.find(({ path }) => path === standard)
  if (twice !== undefined)
    notes.add('HOOK_DUPLICATE', {
      message: `the manifest names ${standard}, which is loaded anyway; older versions of Claude Code, such as 2.1.197, report an error`,
      suggestion: 'Remove it from the manifest.',
      path: manifestFile,
      line: twice.line,
    })
  const inline = (declared?.inline ?? []).flatMap(({ value, at }) => {
    const lineOf: HookFile['lineOf'] = (path) => manifest.lineOf([...at, ...path])
    return eventsInManifest(value, lineOf, notes)
  })
  const others = named.filter(({ path }) => path !== standard).map(({ path }) => path)
  const [first, ...rest] = [standard, ...others].map((path) =>
    files.placeOf(path) === 'missing' ? null : readHookFile(path, files, notes),
  )
  return [first, ...inline, ...rest].filter((file) => file !== null && file !== undefined)
}

function readHookFile(path: string, files: PluginFiles, notes: Notes): HookFile | null {
  const file = files.read(path)
  if (file === null) return null
  const parsed = parseUnmarkedJson(file)
  if (parsed.kind === 'broken') {
    notes.add('HOOK_INVALID', {
      message: `${path} is not JSON, so that none of its hooks runs: ${parsed.text}`,
      suggestion: 'Repair the JSON; comments are not allowed.',
      path,
      line: parsed.line,
    })
    return null
  }
  return wrapped(path, parsed, notes)
}

function wrapped(path: string, parsed: Extract<JsonFile, { kind: 'parsed' }>, notes: Notes): HookFile | null {
  const top = asObject(parsed.value)
  if (top?.modules !== undefined)
    notes.add('HOOK_MODULES', {
      message: `${path} names modules of code; what they do is not looked into`,
      suggestion: 'Try them in a live session.',
      path,
      line: parsed.lineOf(['modules']),
    })
  const events = asObject(top?.hooks)
  if (events !== null) return { path, events, lineOf: (steps) => parsed.lineOf(['hooks', ...steps]) }
  if (top?.modules !== undefined && top.hooks === undefined) return null
  const isBare = Object.keys(top ?? {}).some((key) => hookEvents.has(key))
  notes.add('HOOK_INVALID', {
    message: isBare
      ? `${path} has its events at the top level, so that none of its hooks runs`
      : `${path} has no object under the key hooks, so that none of its hooks runs`,
    suggestion: 'Wrap the events: { "hooks": { "PreToolUse": […] } }.',
    path,
    line: top?.hooks === undefined ? 1 : parsed.lineOf(['hooks']),
    detail: { found: typeWord(top?.hooks) },
  })
  return null
}

/** In the manifest the events stand right under hooks; a wrapper is ignored there with all that is in it. */
function eventsInManifest(value: JsonObject, lineOf: HookFile['lineOf'], notes: Notes): HookFile[] {
  if (asObject(value.hooks) === null) return [{ path: manifestFile, events: value, lineOf }]
  notes.add('HOOK_INVALID', {
    message: 'hooks of the manifest are wrapped once more, so that none of them runs',
    suggestion: 'Put the events right under hooks: "hooks": { "PreToolUse": […] }.',
    path: manifestFile,
    line: lineOf(['hooks']),
  })
  return []
}
