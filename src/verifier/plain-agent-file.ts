import { join } from 'node:path'
import { readShortText } from '../io/read-short-text.ts'
import { sha256 } from '../io/sha256.ts'
import type { ReadAgentFile } from './agent-file.ts'
import { agentFileDefaults, agentFileName, maxTimeoutMs, reservedVariables } from './agent-file-defaults.ts'
import type { AgentFile, VerificationConfig, VerificationStep } from './contract.ts'
import { parseSize } from './parse-size.ts'
import { type PlainValue, plainYaml } from './plain-yaml.ts'

/** Longer ones are the whole reader's. */
const maxBytes = 20_000

/**
 * The agent.yaml of a repository when it is plain and right; exactly what `readAgentFile` would answer. null for everything else,
 * also for a file that is not there or wrong: `readAgentFile` knows more, and tells what is wrong and where, but takes long to load.
 */
export function plainAgentFile(repository: string): ReadAgentFile | null {
  const path = join(repository, agentFileName)
  const text = readShortText(path, maxBytes)
  const file = text === null ? null : plainAgent(text)
  return text === null || file === null ? null : { path, text, sha256: sha256(text), file }
}

export function plainAgent(text: string): AgentFile | null {
  const root = fields(plainYaml(text), ['verification', 'timeouts'])
  const verification = fields(root?.verification, ['container_image', 'steps', 'workspace', 'network', 'env'])
  const timeouts =
    root?.timeouts === undefined ? {} : fields(root.timeouts, ['verification_step', 'scout_query'])
  if (verification === null || timeouts === null) return null
  const verificationStepMs = timeouts.verification_step ?? agentFileDefaults.verificationStepMs
  const scoutQueryMs = timeouts.scout_query ?? agentFileDefaults.scoutQueryMs
  if (!isTimeout(verificationStepMs) || !isTimeout(scoutQueryMs)) return null
  const config = verificationOf(verification, verificationStepMs)
  if (config === null) return null
  return { verification: config, timeouts: { verificationStepMs, scoutQueryMs }, package: null }
}

type Fields = Readonly<Record<string, PlainValue>>

/** null unless it is a mapping that has no other keys. */
function fields(value: PlainValue | null | undefined, known: readonly string[]): Fields | null {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null
  return Object.keys(value).every((key) => known.includes(key)) ? (value as Fields) : null
}

function verificationOf(
  { container_image, steps, workspace, network, env }: Fields,
  stepMs: number,
): VerificationConfig | null {
  const { limits, ...defaults } = agentFileDefaults
  const read = Array.isArray(steps) ? steps.map((step: PlainValue) => stepOf(step, stepMs)) : []
  const known = read.filter((step) => step !== null)
  const variables = env === undefined ? {} : variablesOf(env)
  if (!isText(container_image) || known.length === 0 || known.length < read.length || variables === null)
    return null
  const layer = workspace ?? defaults.workspace
  const reach = network ?? defaults.network
  if (layer !== 'readonly' && layer !== 'overlay') return null
  if (reach !== 'none' && reach !== 'allow') return null
  return {
    image: container_image.trim(),
    steps: known,
    workspace: layer,
    network: reach,
    limits: { memoryBytes: parseSize(limits.memory), cpus: limits.cpus, pids: limits.pids },
    env: variables,
    caches: [],
  }
}

function stepOf(value: PlainValue, stepMs: number): VerificationStep | null {
  const { name, command, timeout = stepMs } = fields(value, ['name', 'command', 'timeout']) ?? {}
  return isText(name) && isText(command) && isTimeout(timeout) ? { name, command, timeoutMs: timeout } : null
}

function variablesOf(value: PlainValue): Readonly<Record<string, string>> | null {
  if (typeof value !== 'object' || Array.isArray(value)) return null
  const entries = Object.entries(value)
  if (entries.some(([name, each]) => reservedVariables.includes(name) || typeof each === 'object'))
    return null
  return Object.fromEntries(entries.map(([name, each]) => [name, String(each)]))
}

function isText(value: PlainValue | undefined): value is string {
  return typeof value === 'string' && /\S/.test(value)
}

function isTimeout(value: PlainValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= maxTimeoutMs
}
