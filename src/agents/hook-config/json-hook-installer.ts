import { isAbsolute } from 'node:path'
import { asArray, asObject, asString, asStrings, isObject, type JsonObject } from '../../core/json-fields.ts'
import { appendJson, removeJson } from '../../core/jsonc/edit-jsonc.ts'
import type { HookRegistration } from '../hook-codec.ts'
import type { HookCommand, HookInstaller, HookPresence } from '../hook-installer.ts'
import { type JsonHookFile, readHookFile } from './read-hook-file.ts'
import { withoutCondition, wordsOfShell } from './shell-words.ts'

/** The specifics of one agent whose hooks are lists by event below `hooks` in a JSON file. */
export interface JsonHookFormat
  extends Omit<HookInstaller, 'install' | 'uninstall' | 'inspect' | 'programs'> {
  /** The usual name of the file, for messages. */
  readonly fileName: string
  /** Whether the agent accepts comments. If not, a file with one is refused: the agent ignores the whole file. */
  readonly comments: boolean
  /** The content of a new file besides `hooks`. */
  readonly skeleton: JsonObject
  entryOf(registration: HookRegistration, command: HookCommand): JsonObject
  /** Why this file prevents the agent from running its hooks; null when it does not. */
  disabledBy?(settings: JsonObject): string | null
}

/** Text in, text out. Entries of others keep every byte; ours are the last of each list. */
export function jsonHookInstaller(
  format: JsonHookFormat,
  events: readonly HookRegistration[],
): HookInstaller {
  const { fileName, comments, skeleton, entryOf, disabledBy, ...facts } = format
  const read = (text: string): JsonHookFile => readHookFile(text, format)
  const wantedOf = (command: HookCommand): readonly FoundHook[] =>
    events.map((registration) => ({
      event: registration.event,
      entry: entryOf(registration, { ...command, args: [...command.args, registration.event] }),
    }))
  const differencesOf = (text: string, command: HookCommand): readonly string[] =>
    compareHooks(oursIn(read(text)), wantedOf(command))

  return {
    ...facts,
    install(text, command) {
      const isNew = text === null || text.trim() === ''
      if (!isNew && differencesOf(text, command).length === 0) return text
      const start = isNew
        ? `${JSON.stringify({ ...skeleton, hooks: {} }, null, 2)}\n`
        : withoutOurs(text, read)
      return wantedOf(command).reduce((before, hook) => withHook(before, hook, read), start)
    },
    uninstall(text) {
      if (oursIn(read(text)).length === 0) return text
      const rest = withoutOurs(text, read)
      const { value, hasComments } = read(rest)
      return !hasComments && JSON.stringify({ ...skeleton, ...value }) === JSON.stringify(skeleton)
        ? null
        : rest
    },
    programs(text) {
      const handlers = oursIn(read(text)).flatMap(({ entry }) => groupOf(entry) ?? [entry])
      const paths = handlers.flatMap((handler) => wordsOfHook(handler).filter((word) => isAbsolute(word)))
      return [...new Set(paths)]
    },
    inspect(text, command): HookPresence {
      if (text === null || text.trim() === '') return { kind: 'absent' }
      const file = read(text)
      if (oursIn(file).length === 0) return { kind: 'absent' }
      const why = disabledBy?.(file.value) ?? null
      if (why !== null) return { kind: 'disabled', why }
      const differences = differencesOf(text, command)
      return differences.length === 0 ? { kind: 'installed' } : { kind: 'outdated', differences }
    },
  }
}

/** Our handlers, each as a separate entry, also where a person moved it into another group. */
function oursIn({ hooks }: JsonHookFile): readonly FoundHook[] {
  return Object.entries(hooks).flatMap(([event, list]) =>
    asArray(list).flatMap((entry): FoundHook[] => {
      const group = groupOf(entry)
      if (group === null) return isOurHook(entry) ? [{ event, entry }] : []
      const ours = group.filter(isOurHook)
      return ours.length === 0 ? [] : [{ event, entry: { ...asObject(entry), hooks: ours } }]
    }),
  )
}

/** Lists and objects that become empty without ours are removed too. */
function withoutOurs(text: string, read: (text: string) => JsonHookFile): string {
  let rest = text
  for (const [event, list] of Object.entries(read(text).hooks).toReversed()) {
    for (const [index, entry] of [...asArray(list).entries()].toReversed()) {
      const group = groupOf(entry)
      const ours = group === null ? [] : [...group.keys()].filter((at) => isOurHook(group[at]))
      if (group === null ? isOurHook(entry) : ours.length > 0 && ours.length === group.length)
        rest = removeJson(rest, ['hooks', event, index])
      else for (const at of ours.toReversed()) rest = removeJson(rest, ['hooks', event, index, 'hooks', at])
    }
    const left = asArray(read(rest).hooks[event])
    if (left.length === 0 && asArray(list).length > 0) rest = removeJson(rest, ['hooks', event])
  }
  return rest !== text && Object.keys(read(rest).hooks).length === 0 ? removeJson(rest, ['hooks']) : rest
}

function withHook(text: string, { event, entry }: FoundHook, read: (text: string) => JsonHookFile): string {
  const { value, hooks } = read(text)
  if (!Object.hasOwn(value, 'hooks'))
    return appendJson(text, [], { key: 'hooks', value: { [event]: [entry] } })
  if (!Object.hasOwn(hooks, event)) return appendJson(text, ['hooks'], { key: event, value: [entry] })
  return appendJson(text, ['hooks', event], { value: entry })
}

/** The handlers of a group; null for an entry that is a handler itself. */
function groupOf(entry: unknown): readonly unknown[] | null {
  const hooks = asObject(entry)?.hooks
  return Array.isArray(hooks) ? hooks : null
}

/** Whether a handler in a hook file starts the guard, whatever its version and path. */
function isOurHook(handler: unknown): boolean {
  const words = wordsOfHook(handler)
  if (/(?:^|[\\/])gantry-hook\.cjs$/.test(words[0] ?? '')) return true
  const script = words.findIndex((word) => /(?:^|[\\/])hook-bin\.(?:js|ts)$/.test(word))
  return script !== -1 && words[script + 1] === '--agent'
}

/** Program and arguments, in either notation. */
function wordsOfHook(handler: unknown): readonly string[] {
  const { command, bash, exec, args } = asObject(handler) ?? {}
  const program = asString(exec) ?? asString(command) ?? asString(bash)
  if (program === undefined) return []
  if (!Array.isArray(args)) return wordsOfShell(withoutCondition(program))
  const [flag, line, ...more] = asStrings(args) ?? []
  return program === '/bin/sh' && flag === '-c' && line !== undefined
    ? [...wordsOfShell(withoutCondition(line)), ...more]
    : [program, ...(asStrings(args) ?? [])]
}

interface FoundHook {
  readonly event: string
  readonly entry: unknown
}

/** The differences between registered and expected hooks, as sentences; none when they are equal in any order. */
function compareHooks(found: readonly FoundHook[], wanted: readonly FoundHook[]): readonly string[] {
  const left = found.map((hook) => ({ ...hook, text: canonical(hook.entry) }))
  const missing = wanted.filter((hook) => {
    const at = left.findIndex(({ event, text }) => event === hook.event && text === canonical(hook.entry))
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
  const differing = missing.map(({ event, entry }) => {
    const at = left.findIndex((hook) => hook.event === event)
    const [old] = at === -1 ? [] : left.splice(at, 1)
    return old === undefined ? `${event} is not registered` : `${event}: ${difference(old.entry, entry)}`
  })
  return [...differing, ...left.map(({ event }) => `${event} is registered once too often`)]
}

/** The first field that differs, by its name. */
function difference(old: unknown, wanted: unknown): string {
  const [before, after] = [fieldsOf(old), fieldsOf(wanted)]
  const name = [...new Set([...before.keys(), ...after.keys()])].find(
    (key) => before.get(key) !== after.get(key),
  )
  const shown = (value: string | undefined): string => value ?? 'nothing'
  return name === undefined
    ? 'it is written otherwise'
    : `${name} is ${shown(before.get(name))} instead of ${shown(after.get(name))}`
}

/** Leaves by their last key; a full path would not help more. */
function fieldsOf(value: unknown, name = ''): Map<string, string> {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return new Map([[name, value.join(' ')]])
  if (typeof value !== 'object' || value === null) return new Map([[name, String(value)]])
  return new Map(
    Object.entries(value).flatMap(([key, field]) => [...fieldsOf(field, Array.isArray(value) ? name : key)]),
  )
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) =>
    isObject(field) ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1))) : field,
  )
}
