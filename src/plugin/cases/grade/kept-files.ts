import { readTextInside } from '../../../io/read-text-inside.ts'
import type { KeptFile } from '../../execute/contract.ts'
import type { Grader, PluginScenario } from '../../generate/contract.ts'
import { whyUnusable } from '../read-case-text.ts'

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
  const why = whyUnusable(read, maxBytes)
  if (why !== null) return { kind: 'refused', reason: `${path} ${why}` }
  return read.kind === 'text' ? { kind: 'text', text: read.text } : { kind: 'missing' }
}
