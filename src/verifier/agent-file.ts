import { join } from 'node:path'
import type { z } from 'zod'
import { GantryError } from '../core/error.ts'
import { isDirectory } from '../io/path-kind.ts'
import { resolveInside } from '../io/resolve-inside.ts'
import { sha256 } from '../io/sha256.ts'
import { fileProblem, readYaml, type SourceFile } from '../io/yaml.ts'
import { agentFileSchema } from './agent-file-schema.ts'
import { type AgentFile, agentFileName } from './contract.ts'
import { parseSize } from './parse-size.ts'

export { agentFileName }

export interface ReadAgentFile {
  readonly path: string
  /** As it was read: a run uses this and nothing that is written later. */
  readonly text: string
  readonly sha256: string
  readonly file: AgentFile
}

/** Reads and checks agent.yaml. `path` instead of the one in the root of the repository. */
export function readAgentFile(
  repository: string,
  path: string = join(repository, agentFileName),
): ReadAgentFile {
  const source = readSource(path)
  const { value, text } = source
  const file: AgentFile = {
    verification: verificationOf(value),
    timeouts: {
      verificationStepMs: value.timeouts.verification_step,
      scoutQueryMs: value.timeouts.scout_query,
    },
    package: packageOf(source, repository),
  }
  return { path, text, sha256: sha256(text), file }
}

type Value = z.output<typeof agentFileSchema>

function readSource(path: string): SourceFile<Value> {
  try {
    return readYaml(path, agentFileSchema)
  } catch (error) {
    if (!(error instanceof GantryError && error.code === 'NOT_FOUND')) throw error
    throw new GantryError('NOT_FOUND', `configuration required: ${path} does not exist`, {
      hint: `Let gantry init propose one, or write it, for example:\n\n${minimalFile}`,
      at: { file: path },
      cause: error,
    })
  }
}

const minimalFile = `verification:
  container_image: node:24
  workspace: overlay
  steps:
    - name: test
      command: npm test
`

function verificationOf({ verification, timeouts }: Value): AgentFile['verification'] {
  const { container_image, steps, limits, env, ...rest } = verification
  return {
    ...rest,
    image: container_image.trim(),
    steps: steps.map(({ name, command, timeout }) => ({
      name,
      command,
      timeoutMs: timeout ?? timeouts.verification_step,
    })),
    limits: { memoryBytes: parseSize(limits.memory), cpus: limits.cpus, pids: limits.pids },
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
  }
}

function packageOf(source: SourceFile<Value>, repository: string): string | null {
  const named = source.value.monorepo?.package
  if (named === undefined) return null
  const problem = (message: string): GantryError =>
    fileProblem(source, ['monorepo', 'package'], `monorepo.package: ${message}`)
  const found = resolveInside(repository, named)
  if (found.kind === 'outside') throw problem(`${named} is not inside the repository: ${found.reason}`)
  if (found.kind === 'missing' || !isDirectory(found.path)) throw problem(`there is no directory ${named}`)
  return found.path.slice(repository.length).replace(/^\/+/, '') || '.'
}
