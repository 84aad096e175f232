import type { ResolvedAgent } from '../config/resolve-agent.ts'
import { expandVariables } from '../core/expand.ts'
import { version } from '../core/version.ts'
import { fileHash } from '../io/content-hash.ts'
import { exec } from '../io/exec.ts'
import { findProgram } from '../io/find-program.ts'
import { cacheKey } from '../store/cache.ts'
import type { Case } from './case.ts'
import type { ScenarioTrial } from './plan.ts'
import type { RunRequest } from './request.ts'

export interface KeyFacts {
  readonly planned: Pick<ScenarioTrial, 'case' | 'agent' | 'model'>
  readonly case: Case
  readonly agent: ResolvedAgent
  readonly target: TargetIdentity
  /** Hash of the template tree: the documentation under test and the scripts that grade are in it. */
  readonly template: string
  readonly request: RunRequest
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Each repetition has a key of its own: it is another sample. */
export function trialKey(groupKey: string, { attempt }: ScenarioTrial): string {
  return cacheKey({ group: groupKey, attempt })
}

/** Everything that could change the results of one case by one agent with one model. */
export function groupKey({ planned, case: entry, agent, target, template, request, env }: KeyFacts): string {
  return cacheKey({
    gantry: version,
    scenario: entry.source.text,
    name: planned.case,
    prompt: entry.scenario.task.prompt,
    template,
    rubric: entry.rubric?.value ?? null,
    target: { ...entry.target, env: expandValues(entry.target.env, env), identity: target },
    agent: {
      name: planned.agent,
      driver: agent.driver.name,
      fingerprint: agent.probe.fingerprint,
      env: agent.env,
      home: agent.home,
      ...(agent.modelScript !== null && { modelScript: agent.modelScript.text }),
    },
    ...(request.faults.length > 0 && { faults: request.faults, seed: request.seed }),
    model: planned.model,
    timeoutMs: request.timeoutMs ?? null,
    judge: request.judge && entry.rubric !== null ? (request.judgeModel ?? null) : null,
  })
}

/** The values the caller's variables have now. What a trial itself sets, such as its directories, is the same for all. */
export function expandValues(
  values: Readonly<Record<string, string>>,
  env: KeyFacts['env'],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, expandVariables(value, env).text]),
  )
}

/** Which build of the tool is under test. */
export interface TargetIdentity {
  /** First line of `--version`; null when it does not tell, or when the tool lies in the template. */
  readonly version: string | null
  /** Hash of the program's file; null when it lies in the template, whose own hash covers it. */
  readonly fingerprint: string | null
}

/** Asks the tool for its version once per run, away from every workspace. */
export async function targetIdentity(
  { target, targetProgram }: Case,
  env: Readonly<Record<string, string>>,
  scratch: string,
  signal: AbortSignal,
): Promise<TargetIdentity> {
  const program =
    targetProgram ??
    (target.binary.includes('/') ? null : findProgram(target.binary, target.env.PATH ?? env.PATH ?? ''))
  if (program === null) return { version: null, fingerprint: null }
  const asked = await exec({
    argv: [program, '--version'],
    cwd: scratch,
    env,
    timeoutMs: 10_000,
    signal,
    maxOutputBytes: 4096,
  })
  const line = asked.stdout.text.split('\n')[0]?.trim() ?? ''
  return { version: asked.exitCode === 0 && line !== '' ? line : null, fingerprint: fileHash(program) }
}
