import type { CommandNode, PipelineNode, Statement } from 'unbash'
import type { ExitRelation } from './wrapper.ts'

/** What is known about how a piece of shell ended. */
export interface ExitStatus {
  /** null when unknown. */
  readonly code: number | null
  /** The code is inferred, not observed. */
  readonly approximate: boolean
}

export const unknownExit: ExitStatus = { code: null, approximate: false }

/** It certainly failed, with an unknown code. */
const someFailure: ExitStatus = { code: 1, approximate: true }

/** The exit status of `a`, from that of `! a`. */
export function oppositeExit({ code, approximate }: ExitStatus): ExitStatus {
  if (code === null) return unknownExit
  return code === 0 ? someFailure : { code: 0, approximate }
}

/** The exit status of a command, from that of its wrapper. */
export function exitInside(wrapper: ExitStatus, relation: ExitRelation): ExitStatus {
  if (relation === 'none') return unknownExit
  return relation === 'similar' && wrapper.code !== 0 && wrapper.code !== null ? someFailure : wrapper
}

export interface ChainExits {
  readonly parts: readonly ExitStatus[]
  /** One of the first `count` parts failed with this code, and it is not known which. */
  readonly blame: { readonly count: number; readonly code: number } | null
}

/**
 * What the end of a chain says about each of its parts. Chains associate to the left: `a && b || c` is `(a && b) || c`.
 * `operators[i]` is before part `i + 1`; `failing(i)` says that part `i` always fails, as in `|| exit 1`.
 */
export function exitsInChain(
  operators: readonly string[],
  whole: ExitStatus,
  failing: (part: number) => boolean,
): ChainExits {
  const fromRight: ExitStatus[] = []
  const answer = (blame: ChainExits['blame']): ChainExits => {
    const missing = Array.from({ length: operators.length + 1 - fromRight.length }, () => unknownExit)
    return { parts: [...missing, ...fromRight.reverse()], blame }
  }
  let rest = whole
  for (let index = operators.length; index >= 1 && rest.code !== null; index -= 1) {
    const isOr = operators[index - 1] === '||'
    if (!isOr && rest.code !== 0) return answer({ count: index + 1, code: rest.code })
    if (isOr && rest.code === 0) {
      // Either side succeeded; the right one only when it can.
      if (!failing(index)) return answer(null)
      fromRight.push(unknownExit)
    } else {
      fromRight.push(rest)
      if (isOr) rest = someFailure
    }
  }
  if (rest.code !== null) fromRight.push(rest)
  return answer(null)
}

/** Why the success of a script does not prove the success of a command in it. */
export interface ExitDoubt {
  readonly kind: 'masked' | 'background' | 'conditional'
  /** Written so that a failure cannot be seen: `|| true`, `; true`, `!`. */
  readonly isHidden?: true
  /** A sentence without a full stop; its subject is the command. */
  readonly text: string
}

export const inBackground: ExitDoubt = {
  kind: 'background',
  text: 'was put into the background, so its end is not known',
}

export const alternative: ExitDoubt = {
  kind: 'conditional',
  text: 'runs only if the command before `||` fails',
}

export const negated: ExitDoubt = {
  kind: 'masked',
  isHidden: true,
  text: 'is negated with `!`, so its failure looks like success',
}

export function followedBy({ command }: Statement): ExitDoubt {
  const [first] = command.type === 'AndOr' ? command.commands : [command]
  const name = first === undefined ? 'something' : `\`${labelOf(first)}\``
  const text = `is followed by ${name}, which decides the exit code; join with &&`
  return { kind: 'masked', text, ...(/^`(?:true|:|exit)`$/.test(name) && { isHidden: true }) }
}

export function hiddenBy(node: PipelineNode): ExitDoubt {
  const text = `is followed by \`|| ${labelOf(node)}\`, which hides its failure`
  return { kind: 'masked', isHidden: true, text }
}

export function pipedInto(node: CommandNode): ExitDoubt {
  const text = `is piped into ${labelOf(node)}, whose exit code hides its own; set -o pipefail before it`
  return { kind: 'masked', text }
}

function labelOf(node: PipelineNode): string {
  if (node.type === 'Pipeline') return node.commands[0] === undefined ? '|' : labelOf(node.commands[0])
  if (node.type !== 'Command') return node.type === 'BraceGroup' ? '{ … }' : node.type.toLowerCase()
  return (node.name?.text ?? node.prefix[0]?.type ?? '').slice(0, 40)
}
