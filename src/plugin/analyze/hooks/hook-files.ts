import { asObject, type JsonObject } from '../../../core/json-fields.ts'
import type { HookHandler } from '../contract.ts'
import { describeType } from '../describe-type.ts'
import { type JsonFile, parseUnmarkedJson } from '../files/json-file.ts'
import { declaredPaths } from '../manifest/declared-paths.ts'
import { manifestFile, type PluginSource } from '../manifest/read-manifest.ts'
import { longestMatcher } from '../matcher.ts'
import type { Notes } from '../notes.ts'
import { handlerAction, handlerProblems, isHandlerType } from './handler-fields.ts'
import { hookEvents } from './hook-events.ts'

/** Hooks of one file, or of the manifest itself. */
export interface PluginHookFile {
  readonly path: string
  readonly events: JsonObject
  lineOf(path: readonly (string | number)[]): number
}

const standard = 'hooks/hooks.json'

/** `hooks/hooks.json`, then hooks written in the manifest, then the files it names, in the order in which Claude Code runs them. */
export function hookFiles(plugin: PluginSource): readonly PluginHookFile[] {
  const { files, manifest, notes } = plugin
  const declared = declaredPaths('hooks', plugin)
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
    const lineOf: PluginHookFile['lineOf'] = (path) => manifest.lineOf([...at, ...path])
    return eventsInManifest(value, lineOf, notes)
  })
  const others = named.filter(({ path }) => path !== standard).map(({ path }) => path)
  const [first, ...rest] = [standard, ...others].map((path) =>
    files.placeOf(path) === 'missing' ? null : readHookFile(path, plugin),
  )
  return [first, ...inline, ...rest].filter((file) => file !== null && file !== undefined)
}

function readHookFile(path: string, { files, notes }: PluginSource): PluginHookFile | null {
  const file = files.read(path)
  if (file === null) return null
  const parsed = parseUnmarkedJson(file)
  if (parsed.kind === 'broken') {
    notes.add('HOOK_INVALID', {
      message: `${path} is not JSON, so none of its hooks run: ${parsed.text}`,
      suggestion: 'Fix the JSON; comments are not allowed.',
      path,
      line: parsed.line,
    })
    return null
  }
  return wrapped(path, parsed, notes)
}

function wrapped(
  path: string,
  parsed: Extract<JsonFile, { kind: 'parsed' }>,
  notes: Notes,
): PluginHookFile | null {
  const top = asObject(parsed.value)
  if (top?.modules !== undefined)
    notes.add('HOOK_MODULES', {
      message: `${path} names code modules, which are not analysed`,
      path,
      line: parsed.lineOf(['modules']),
    })
  const events = asObject(top?.hooks)
  if (events !== null) return { path, events, lineOf: (steps) => parsed.lineOf(['hooks', ...steps]) }
  if (top?.modules !== undefined && top.hooks === undefined) return null
  const isBare = Object.keys(top ?? {}).some((key) => hookEvents.has(key))
  const unloads = guarding.some((event) => Array.isArray(top?.[event]) && top[event].length > 0)
  notes.add('HOOK_INVALID', {
    unloads,
    message: isBare
      ? `${path} has its events at the top level, so ${unloads ? 'Claude Code loads nothing of this plugin' : 'none of its hooks run'}`
      : `${path} has no object under the key hooks, so none of its hooks run`,
    suggestion: 'Wrap the events: { "hooks": { "PreToolUse": […] } }.',
    path,
    line: top?.hooks === undefined ? 1 : parsed.lineOf(['hooks']),
    detail: { found: describeType(top?.hooks) },
  })
  return null
}

/** In the manifest the events are directly under hooks; a second hooks key is ignored with all its content. */
function eventsInManifest(
  value: JsonObject,
  lineOf: PluginHookFile['lineOf'],
  notes: Notes,
): PluginHookFile[] {
  if (asObject(value.hooks) === null) return [{ path: manifestFile, events: value, lineOf }]
  notes.add('HOOK_INVALID', {
    message: 'hooks of the manifest have a second hooks key inside, so none of them run',
    suggestion: 'Put the events directly under hooks: "hooks": { "PreToolUse": […] }.',
    path: manifestFile,
    line: lineOf(['hooks']),
  })
  return []
}

/** A matcher group as written, with the handlers that Claude Code loads. */
export type HookGroup = NonNullable<ReturnType<typeof readGroup>>

type Steps = readonly [string, number]

export function readGroup(value: unknown, at: Steps, file: PluginHookFile, notes: Notes) {
  const group = asObject(value)
  const line = file.lineOf(at)
  const listed: unknown = group?.hooks
  if (group === null || !Array.isArray(listed)) {
    const isHandler = typeof group?.type === 'string'
    noteInvalid(at, file, line, notes, {
      message: isHandler
        ? `group ${at[1] + 1} of ${at[0]} is a handler; handlers belong in a list under hooks`
        : `group ${at[1] + 1} of ${at[0]} has ${describeType(listed)} instead of a list under hooks`,
      suggestion: 'Write { "matcher": "…", "hooks": [ { "type": "command", "command": "…" } ] }.',
    })
    return null
  }
  const { matcher } = group
  if (matcher !== undefined && typeof matcher !== 'string') {
    noteInvalid(at, file, line, notes, {
      message: `the matcher of group ${at[1] + 1} of ${at[0]} is ${describeType(matcher)}`,
      suggestion: 'Write it as a text, or leave it out to match everything.',
    })
    return null
  }
  if (matcher !== undefined && matcher.length > longestMatcher) {
    notes.add('HOOK_MATCHER_INVALID', {
      message: `the matcher of group ${at[1] + 1} of ${at[0]} has ${matcher.length} characters; above ${longestMatcher} the group is left out`,
      suggestion: 'Write a shorter one; a regular expression such as mcp__server__.* covers many tools.',
      path: file.path,
      line,
    })
    return null
  }
  const handlers = listed.flatMap((raw, index) => readHandler(raw, [...at, 'hooks', index], at, file, notes))
  if (handlers.length === 0) {
    if (listed.length === 0)
      noteInvalid(at, file, line, notes, {
        message: `group ${at[1] + 1} of ${at[0]} has no handlers`,
        suggestion: 'Add a handler, or remove the group.',
        isHarmless: true,
        severity: 'warning',
      })
    return null
  }
  return { matcher: matcher ?? null, handlers, line }
}

function readHandler(
  value: unknown,
  steps: readonly (string | number)[],
  at: Steps,
  file: PluginHookFile,
  notes: Notes,
): HookHandler[] {
  const raw = asObject(value)
  const line = file.lineOf(steps)
  if (raw === null || !isHandlerType(raw.type)) {
    noteInvalid(at, file, line, notes, {
      message: `a handler of ${at[0]} has ${raw === null ? describeType(value) : `the type ${JSON.stringify(raw.type ?? null)}`}`,
      suggestion: 'The type is one of command, http, mcp_tool, prompt, agent.',
    })
    return []
  }
  const [problem] = handlerProblems(raw.type, raw)
  if (problem !== undefined) {
    noteInvalid(at, file, file.lineOf([...steps, problem.key]), notes, {
      message: `${problem.key} of a ${raw.type} handler of ${at[0]} ${problem.text}`,
      suggestion: 'Correct it.',
    })
    return []
  }
  const { timeout } = raw
  const limit = typeof timeout === 'number' ? { timeout_seconds: timeout } : {}
  return [{ type: raw.type, action: handlerAction(raw.type, raw), ...limit, raw }]
}

/** Claude Code loads nothing beside a hook of these that it cannot read: it may guard the rest. */
const guarding = ['PreToolUse', 'PermissionRequest']

/** Claude Code skips what it cannot read. For an event that guards tools it then loads nothing of the plugin. */
export function noteInvalid(
  [event]: Steps,
  { path }: PluginHookFile,
  line: number,
  notes: Notes,
  {
    isHarmless = false,
    ...about
  }: {
    readonly message: string
    readonly suggestion: string
    readonly isHarmless?: boolean
    readonly severity?: 'warning'
  },
): void {
  const guards = !isHarmless && guarding.includes(event)
  const effect = guards ? 'because of this, Claude Code loads nothing of this plugin' : 'it is skipped'
  notes.add('HOOK_INVALID', { ...about, message: `${about.message}; ${effect}`, unloads: guards, path, line })
}
