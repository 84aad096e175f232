import { resolve } from 'node:path'
import { contentHash, fileHash } from '../../io/content-hash.ts'
import { exec } from '../../io/exec.ts'
import { isFile } from '../../io/path-kind.ts'
import type { AgentProbe, ProbeContext } from '../contract.ts'
import { anchorPaths, type CommandAgent, locateProgram } from './launch.ts'

const versionTimeoutMs = 10_000

/** Looks for the program and asks for its version; the agent itself is not started. */
export async function probeCommand(agent: CommandAgent, context: ProbeContext): Promise<AgentProbe> {
  const { config, base } = agent
  const argv = anchorPaths(config.command, base)
  const found = locateProgram(argv, context.env)
  const version = found.path === null ? null : await askVersion(agent, context)
  const problem = found.problem ?? version?.problem ?? null
  return {
    found: found.path !== null,
    version: version?.text ?? null,
    authenticated: null,
    fingerprint: fingerprint(agent, found.path, version?.text ?? null),
    ...(problem === null ? {} : { problem }),
  }
}

async function askVersion(
  { config, base }: CommandAgent,
  { env, signal }: ProbeContext,
): Promise<{ readonly text: string | null; readonly problem: string | null }> {
  if (config.version_command === undefined) return { text: null, problem: null }
  const result = await exec({
    argv: anchorPaths(config.version_command, base),
    cwd: base,
    env,
    timeoutMs: versionTimeoutMs,
    maxOutputBytes: 4_096,
    ...(signal === undefined ? {} : { signal }),
  })
  if (result.ending !== 'exited' || result.exitCode !== 0) {
    const how =
      result.ending === 'exited' ? `ended with exit code ${result.exitCode}` : `ended as ${result.ending}`
    return {
      text: null,
      problem: `version_command ${how}. ${result.error ?? result.stderr.text.trim()}`.trim(),
    }
  }
  const [first = ''] = (result.stdout.text.trim() || result.stderr.text.trim()).split('\n')
  return { text: first.trim() === '' ? null : first.trim(), problem: null }
}

/** Everything the behaviour can depend on that we can see: the settings, the program, and each file it is given. */
function fingerprint({ config, base }: CommandAgent, program: string | null, version: string | null): string {
  const files = config.command
    .slice(1)
    .filter((word) => !word.includes('\0'))
    .map((word) => resolve(base, word))
    .filter(isFile)
  const contents = [...(program === null ? [] : [program]), ...files].map((file) => fileHash(file) ?? '')
  return contentHash([JSON.stringify(config), version ?? '', ...contents])
}
