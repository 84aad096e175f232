import type { TestInventory } from '../contract.ts'
import { changedMachine } from '../tests/machine-state.ts'
import { provesNothing } from './proves-nothing.ts'

/** Why a command proves nothing since its definition was changed into one that always succeeds; null when it still proves something. */
export function whyHollow(
  command: string,
  before: TestInventory | null,
  now: TestInventory | null,
  /** Where it runs, for a run in a sandbox. `judged`: what the machine did to it was asked when it ran. */
  sandboxed: { readonly root: string } | 'judged' | null = null,
): string | null {
  const [was, is] = [before, now].map((inventory) => ofCommand(inventory?.definitions, command))
  const [old, fresh] = [before, now].map((inventory) => ofCommand(inventory?.machine, command))
  const elsewhere =
    old === undefined || fresh === undefined || sandboxed === 'judged'
      ? null
      : changedMachine(old, fresh, sandboxed)
  if (elsewhere !== null) return elsewhere
  if (is === undefined || was === undefined || is === was) return null
  const known = new Set(was.split('\n'))
  const replaced = is.split('\n').find((line) => !known.has(line) && cannotFail(line))
  if (replaced !== undefined) return `its definition was changed, and now it need not fail: ${replaced}`
  const whys = is.split('\n').filter(isCommand).map(whyOf)
  const [why] = whys
  return why == null || whys.includes(null) ? null : `its definition was changed, and now ${why}`
}

function ofCommand<Value>(all: Record<string, Value> | undefined, command: string): Value | undefined {
  return all !== undefined && Object.hasOwn(all, command) ? all[command] : undefined
}

/** A line of a definition after which the command can succeed without its checks. */
function cannotFail(line: string): boolean {
  const [, name, value = ''] =
    /^(?:\.npmrc|pnpm-workspace\.yaml): *["']?([\w-]+)["']?(?:\[\])?\s*[=:]?\s*["']?(.*?)["']?$/.exec(line) ??
    []
  if (/^script-?shell$/i.test(name ?? '')) return !/(?:^|\/)(?:ba|z|da|k)?sh(?:\.exe)?$/.test(value)
  if (/^node-?options$/i.test(name ?? ''))
    return /--?(?:r|require|import|loader|experimental-loader)\b/.test(value)
  if (/^if-present$/.test(name ?? '')) return !/^false$/.test(value)
  return /^\w*[mM]akefile: (?:\.IGNORE|SHELL\b|\.SHELLFLAGS|MAKEFLAGS|GNUMAKEFLAGS|export |override |a file has the name)|^\S+: (?:is empty|ends at once|it (?:always|runs|hides) .*)$/.test(
    line,
  )
}

/** make ignores the end of a line that starts with `-`. */
function whyOf(line: string): string | null {
  const [, marks = '', command = ''] = /^([\t @+-]*)(.*)$/s.exec(line) ?? []
  return marks.includes('-') ? 'it hides its own exit code' : provesNothing(command)
}

/** A line of a definition that a shell runs: not a file with its hash, not a setting, not another script by its name, not a cut text. */
function isCommand(line: string): boolean {
  return !isDefiningFile(line) && !/^[\w:./-]+:(?:\s|$)/.test(line) && !/… \([\da-f]{12}\)$/.test(line)
}

/** A line of a definition that stands for a file: its name and a hash of what it defines. */
export function isDefiningFile(line: string): boolean {
  return /^\S+ \([\da-f]{12}\)$/.test(line)
}
