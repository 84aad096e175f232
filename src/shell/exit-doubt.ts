import type { CommandNode, PipelineNode, Statement } from 'unbash'

/** Why the success of a script does not prove the success of a command in it. */
export interface ExitDoubt {
  readonly kind: 'masked' | 'background' | 'conditional'
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
  text: 'is negated with `!`, so its failure looks like success',
}

export function followedBy({ command }: Statement): ExitDoubt {
  const [first] = command.type === 'AndOr' ? command.commands : [command]
  const name = first === undefined ? 'something' : `\`${labelOf(first)}\``
  return { kind: 'masked', text: `is followed by ${name}, which decides the exit code; join with &&` }
}

export function hiddenBy(node: PipelineNode): ExitDoubt {
  return { kind: 'masked', text: `is followed by \`|| ${labelOf(node)}\`, which hides its failure` }
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
