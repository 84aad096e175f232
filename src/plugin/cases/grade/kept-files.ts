import { readTextInside } from '../../../io/read-text-inside.ts'
import type { KeptFile } from '../../execute/contract.ts'
import type { Grader, PluginScenario } from '../../generate/contract.ts'

const maxBytes = 256 * 1024

/**
 * Files of the workspace that graders of the case need, read as soon as the agent has finished: later the workspace is gone.
 * undefined when no grader needs one.
 */
export function keptFiles(
  { case: facts }: Pick<PluginScenario, 'case'>,
  workspace: string,
): Readonly<Record<string, KeptFile>> | undefined {
  const paths = [...new Set((facts?.graders ?? []).flatMap(lookedInto))]
  if (paths.length === 0) return undefined
  return Object.fromEntries(paths.map((path) => [path, keptFile(workspace, path)]))
}

function lookedInto(grader: Grader): readonly string[] {
  const target = grader.type === 'regex' ? grader.target : grader.type === 'llm' ? grader.focus : null
  return typeof target === 'object' && target !== null ? [target.path] : []
}

function keptFile(workspace: string, path: string): KeptFile {
  const read = readTextInside(workspace, path, { maxBytes })
  switch (read.kind) {
    case 'text':
      return read.text.includes('\0')
        ? { kind: 'refused', reason: `${path} is not a text file` }
        : { kind: 'text', text: read.text }
    case 'missing':
      return { kind: 'missing' }
    case 'outside':
      return { kind: 'refused', reason: `${path} is not read: ${read.reason}` }
    case 'not_a_file':
      return { kind: 'refused', reason: `${path} is ${read.what}` }
    case 'too_large':
      return { kind: 'refused', reason: `${path} is larger than ${maxBytes / 1024} KiB` }
    case 'unreadable':
      return { kind: 'refused', reason: `${path} cannot be read: ${read.reason}` }
  }
}
