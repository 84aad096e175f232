import { isAbsolute } from 'node:path'
import { asArray, asObject, asString, asStrings, type JsonObject } from '../../core/json-fields.ts'
import { appendJson, removeJson } from '../../core/jsonc/edit-jsonc.ts'
import type { HookRegistration } from '../hook-codec.ts'
import type { HookCommand, HookInstaller, HookPresence } from '../hook-installer.ts'
import { compareHooks, type FoundHook } from './compare-hooks.ts'
import { type JsonHookFile, readHookFile } from './read-hook-file.ts'
import { wordsOfShell } from './shell-words.ts'

/** What is peculiar to one agent whose hooks are lists by event below `hooks` in a JSON file. */
export interface JsonHookFormat
  extends Pick<
    HookInstaller,
    | 'agent'
    | 'executables'
    | 'projectMarks'
    | 'needsLauncher'
    | 'proof'
    | 'scopes'
    | 'files'
    | 'afterwards'
    | 'switchedOff'
  > {
  /** How people call the file, for messages. */
  readonly fileName: string
  /** The agent reads over comments. Where it does not, a file with one is refused: the agent ignores it whole. */
  readonly comments: boolean
  /** What a new file of ours has besides `hooks`. */
  readonly skeleton: JsonObject
  /** One registration as it stands in the list of its event. */
  entryOf(registration: HookRegistration, command: HookCommand): JsonObject
  /** Why this file keeps the agent from running the hooks in it; null when it does not. */
  disabledBy(settings: JsonObject): string | null
}

/** Text in, text out. What others wrote keeps every byte; ours are the last of each list. */
export function jsonHookInstaller(
  format: JsonHookFormat,
  events: readonly HookRegistration[],
): HookInstaller {
  const read = (text: string): JsonHookFile => readHookFile(text, format)
  const wantedOf = (command: HookCommand): readonly FoundHook[] =>
    events.map((registration) => ({
      event: registration.event,
      entry: format.entryOf(registration, withEvent(command, registration.event)),
    }))
  const differencesOf = (text: string, command: HookCommand): readonly string[] =>
    compareHooks(oursIn(read(text)), wantedOf(command))

  return {
    agent: format.agent,
    executables: format.executables,
    projectMarks: format.projectMarks,
    ...(format.needsLauncher && { needsLauncher: format.needsLauncher }),
    proof: format.proof,
    scopes: format.scopes,
    files: format.files,
    afterwards: format.afterwards,
    ...(format.switchedOff !== undefined && { switchedOff: format.switchedOff }),
    install(text, command) {
      const isNew = text === null || text.trim() === ''
      if (!isNew && differencesOf(text, command).length === 0) return text
      const start = isNew
        ? `${JSON.stringify({ ...format.skeleton, hooks: {} }, null, 2)}\n`
        : withoutOurs(text, read)
      return wantedOf(command).reduce((before, hook) => withHook(before, hook, read), start)
    },
    uninstall(text) {
      if (oursIn(read(text)).length === 0) return text
      const rest = withoutOurs(text, read)
      const { value, hasComments } = read(rest)
      return !hasComments &&
        JSON.stringify({ ...format.skeleton, ...value }) === JSON.stringify(format.skeleton)
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
      const why = format.disabledBy(file.value)
      if (why !== null) return { kind: 'disabled', why }
      const differences = differencesOf(text, command)
      return differences.length === 0 ? { kind: 'installed' } : { kind: 'outdated', differences }
    },
  }
}

/** Ours, each as an entry of its own, also where a person moved it into another group. */
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

/** Lists and objects that are empty without ours go too: they contain nothing else. */
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

function withEvent(command: HookCommand, event: string): HookCommand {
  return { ...command, args: [...command.args, event] }
}

/** Whether a handler in a hook file starts the guard, whatever its version and path. */
function isOurHook(handler: unknown): boolean {
  const words = wordsOfHook(handler)
  if (/(?:^|[\\/])gantry-hook\.cjs$/.test(words[0] ?? '')) return true
  const script = words.findIndex((word) => /(?:^|[\\/])hook-bin\.(?:js|ts)$/.test(word))
  return script !== -1 && words[script + 1] === '--agent'
}

/** Program and arguments, whichever way they are written. */
function wordsOfHook(handler: unknown): readonly string[] {
  const { command, bash, exec, args } = asObject(handler) ?? {}
  const program = asString(exec) ?? asString(command) ?? asString(bash)
  if (program === undefined) return []
  return Array.isArray(args) ? [program, ...(asStrings(args) ?? [])] : wordsOfShell(program)
}
