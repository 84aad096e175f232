import { readInterpreterCall } from './code/interpreter-call.ts'
import { quoteWord } from './quote-word.ts'
import { readShellCall, shells } from './shell-call.ts'
import { type Arg, argOf } from './shell-state.ts'
import type { SimpleCommand } from './simple-command.ts'
import { isKnown } from './unknown-part.ts'
import type { ExitRelation, Unwrapped, WrapperEffect } from './wrapper.ts'
import { unwrap } from './wrappers.ts'

export interface InnerScript {
  readonly source: string
  readonly pipefail: boolean
}

/**
 * Takes wrappers, shells and interpreters off a command: `env X=1 tool a`, `bash -lc '…'`, `python tool.py`. With `plain` only those
 * that run the inner command unchanged and end as it ends; with `launched` also those that run a program of the project: `uv run tool a`.
 */
export function unwrapCommand(words: readonly Arg[], which: 'all' | 'plain' | 'launched' = 'all') {
  const layers = [words]
  const assignments: string[] = []
  let exit: ExitRelation = 'same'
  let limited = false
  let script: InnerScript | null = null
  let layer = unwrapLayer(words)
  while (layer !== null && layer.kind !== 'nothing' && layers.length < maxLayers) {
    if (which !== 'all' && !layer.plain && !(which === 'launched' && layer.launches)) break
    if (exit !== 'none' && layer.exit !== 'same') exit = layer.exit
    assignments.push(...layer.assignments)
    limited ||= layer.limited
    if (layer.kind === 'script') {
      script = { source: layer.source, pipefail: layer.pipefail }
      break
    }
    layers.push(layer.words)
    layer = unwrapLayer(layer.words)
  }
  return {
    /** The command from the outside in: `timeout 5 tool a`, then `tool a`. */
    layers,
    /** The shell text that the innermost layer runs. */
    script,
    /** The innermost layer is a shell or a wrapper with nothing in its words: it may take commands from standard input. */
    readsInput: layer?.kind === 'nothing',
    /** How the whole ends compared with the innermost layer or the script. */
    exit,
    /** Variables that wrappers set, as `NAME=value`. */
    assignments,
    /** A wrapper may stop the command after a time, with exit code 124. */
    limited,
  }
}

/** The command inside wrappers that run it unchanged, and its script when that is a shell with a literal text. */
export function unwrapPlain(outer: SimpleCommand, which: 'plain' | 'launched' = 'plain') {
  const { layers, script, assignments, limited } = unwrapCommand(outer.words.map(argOf), which)
  const set = assignments.map((text) => ({ name: text.slice(0, text.indexOf('=')), text }))
  const command = {
    ...outer,
    words: (layers.at(-1) ?? []).map(({ value }) => value),
    assignments: [...outer.assignments, ...set],
  }
  return { command, script: script !== null && isKnown(script.source) ? script : null, limited }
}

export type PlainCommand = ReturnType<typeof unwrapPlain>

const maxLayers = 16

type LayerEffect = Pick<WrapperEffect, 'exit' | 'assignments' | 'plain' | 'launches' | 'limited'>

type Layer =
  | ({ readonly kind: 'words'; readonly words: readonly Arg[] } & LayerEffect)
  | ({ readonly kind: 'script' } & InnerScript & LayerEffect)
  | { readonly kind: 'nothing' }

const faithful: LayerEffect = { exit: 'same', assignments: [], plain: true, launches: false, limited: false }
const changing: LayerEffect = { ...faithful, plain: false }

function unwrapLayer([program, ...args]: readonly Arg[]): Layer | null {
  if (program === undefined) return null
  const name = program.value.slice(program.value.lastIndexOf('/') + 1)
  if (shells.has(name)) return unwrapShell(program.value, args)
  if (name === '.' || name === 'source') return command(args)
  if (name === 'find') return unwrapFind(args)
  const layers = unwrap(name, args)
  if (layers !== null) {
    const [layer, ...others] = layers
    if (layer === undefined) return { kind: 'nothing' }
    if (others.length > 0)
      return {
        kind: 'script',
        source: layers.map(sourceOf).join('\n'),
        ...changing,
        exit: 'none',
        pipefail: false,
      }
    return layer.kind === 'script' ? { ...layer, pipefail: false } : layer
  }
  const call = readInterpreterCall(name, args)
  return call === null ? null : command(call.runs)
}

function sourceOf(layer: Unwrapped): string {
  return layer.kind === 'script' ? layer.source : layer.words.map(({ value }) => quoteWord(value)).join(' ')
}

function unwrapShell(program: string, args: readonly Arg[]): Layer {
  const { script, file, rest, pipefail, plain, onlyReads } = readShellCall(args)
  if (script !== null) {
    const isPlain = plain && rest.length === 0 && posixShell.test(program)
    const source = rest.length === 0 ? script.value : withParameters(script.value, rest)
    return { kind: 'script', source, ...faithful, pipefail, plain: isPlain }
  }
  return file === null || onlyReads ? { kind: 'nothing' } : command([file, ...rest])
}

/** `bash -c '"$@"' _ tool a`: the text with its parameters. */
function withParameters(source: string, rest: readonly Arg[]): string {
  return source.replaceAll(/"?\$(?:([@*])|(\d)|\{([@*])\}|\{(\d)\})"?/g, (_, all, digit, all2, digit2) => {
    const given =
      (all ?? all2) === undefined ? rest.slice(Number(digit ?? digit2)).slice(0, 1) : rest.slice(1)
    return given.map(({ value }) => quoteWord(value)).join(' ')
  })
}

/** A shell whose language and exit codes are certain. */
const posixShell = /^(?:\/(?:usr\/)?bin\/)?(?:ba|da|z|k)?sh$/

function unwrapFind(args: readonly Arg[]): Layer | null {
  const start = args.findIndex(({ value }) => /^-(exec|execdir|ok|okdir)$/.test(value))
  if (start === -1) return null
  const end = args.findIndex(({ value }, index) => index > start && (value === ';' || value === '+'))
  const inner = command(args.slice(start + 1, end === -1 ? args.length : end))
  return inner.kind === 'words' ? { ...inner, exit: 'none' } : inner
}

function command(words: readonly Arg[]): Layer {
  return words.length === 0 ? { kind: 'nothing' } : { kind: 'words', words, ...changing }
}
