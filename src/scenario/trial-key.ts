import type { ResolvedAgent } from '../config/resolve-agent.ts'
import { expandValues } from '../core/expand.ts'
import { version } from '../core/version.ts'
import { fileHash } from '../io/content-hash.ts'
import { exec } from '../io/exec.ts'
import { findProgram } from '../io/find-program.ts'
import { sha256 } from '../io/sha256.ts'
import { snapshotTree } from '../io/tree-snapshot.ts'
import { cacheKey } from '../store/cache.ts'
import { type Case, isPairwise } from './case.ts'
import type { ArmOverlay } from './overlays.ts'
import type { ScenarioTrial } from './plan.ts'
import type { RunRequest } from './request.ts'

export interface KeyFacts {
  readonly planned: Pick<ScenarioTrial, 'case' | 'agent' | 'model'>
  readonly case: Case
  readonly agent: ResolvedAgent
  readonly target: TargetIdentity
  /** Hash of the template tree, which contains the documentation under test and the grading scripts. */
  readonly template: string
  /** Hash of the files that an arm lays over it. */
  readonly overlay?: string | undefined
  readonly request: RunRequest
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Each repetition has its own key, because it is another sample. */
export function trialKey(groupKey: string, { attempt }: ScenarioTrial): string {
  return cacheKey({ group: groupKey, attempt })
}

/** What a case asks and how it is graded: results of different hashes cannot be compared. */
function caseHash(entry: Case, template: string, judging: Judging): string {
  const { source, ownGates, rubric } = entry
  const gates = fingerprintsOf(ownGates)
  const judge = judgeOf(entry, judging)
  return cacheKey({
    scenario: source.text,
    template,
    rubric: rubric?.value ?? null,
    gates,
    ...(judge !== null && { judge }),
  })
}

function fingerprintsOf(gates: Case['ownGates']) {
  return gates.map(({ definition, fingerprint }) => [definition.type, fingerprint])
}

type Judging = Pick<RunRequest, 'judge' | 'judgeModel'>

/** The judge whose score decides about trials of a case. */
function judgeOf(entry: Case, { judge, judgeModel }: Judging): string | null {
  return judge && entry.rubric !== null && !isPairwise(entry) ? (judgeModel ?? null) : null
}

/** By the name of the case. `templates`: by the directory of the template. */
export function caseHashes(
  cases: readonly Case[],
  judging: Judging,
  templates = templateHashes(cases),
): ReadonlyMap<string, string> {
  const hashOf = (entry: Case): string => caseHash(entry, templates.get(entry.templateDir) ?? '', judging)
  return new Map(cases.map((entry) => [entry.name, hashOf(entry)]))
}

export function templateHashes(cases: readonly Case[]): ReadonlyMap<string, string> {
  const directories = [...new Set(cases.map(({ templateDir }) => templateDir))]
  return new Map(directories.map((each) => [each, sha256(JSON.stringify([...snapshotTree(each)]))]))
}

/** What a case shows to the agent, and what it asks the judge, as hashes. */
export interface CaseInputs {
  /** Of the template without the files that grade. */
  readonly template: string
  readonly rubric: string
}

/** By the name of the case. */
export function caseInputs(cases: readonly Case[]): Readonly<Record<string, CaseInputs>> {
  const found = cases.map(({ name, templateDir, graderFiles, oracleFiles, rubric }): [string, CaseInputs] => {
    const hidden = new Set([...graderFiles, ...oracleFiles])
    const exclude = (path: string): boolean => hidden.has(path.replace(/^initial-state\//, ''))
    const template = sha256(JSON.stringify([...snapshotTree(templateDir, { exclude })]))
    return [name, { template, rubric: sha256(JSON.stringify(rubric?.value ?? null)) }]
  })
  return Object.fromEntries(found)
}

/** Everything that could change the results of one case, agent and model. */
export function groupKey(facts: KeyFacts): string {
  const { planned, case: entry, agent, target, template, request, env } = facts
  return cacheKey({
    gantry: version,
    scenario: entry.source.text,
    name: planned.case,
    prompt: entry.scenario.task.prompt,
    template,
    rubric: entry.rubric?.value ?? null,
    ...(entry.ownGates.length > 0 && { gates: fingerprintsOf(entry.ownGates) }),
    target: { ...entry.target, env: expandValues(entry.target.env, env), identity: target },
    agent: {
      name: planned.agent,
      driver: agent.driver.name,
      fingerprint: agent.probe.fingerprint,
      env: agent.env,
      home: agent.home,
      ...(agent.modelScript !== null && { modelScript: agent.modelScript.text }),
    },
    ...(agent.arm !== undefined && { arm: { ...agent.arm, overlay: facts.overlay ?? null } }),
    ...(request.faults.length > 0 && { faults: request.faults }),
    ...((request.faults.length > 0 || request.seed !== 1) && { seed: request.seed }),
    model: planned.model,
    timeoutMs: request.timeoutMs ?? null,
    judge: judgeOf(entry, request),
  })
}

/** The build of the tool under test. */
export interface TargetIdentity {
  /** First line of `--version`; null when it is unknown, or when the tool is in the template. */
  readonly version: string | null
  /** Hash of the program's file; null when it is in the template, whose hash covers it. */
  readonly fingerprint: string | null
}

/** Asks each tool for its version once per run, outside of any workspace. */
export function targetIdentities(
  env: Readonly<Record<string, string>>,
  scratch: string,
  signal: AbortSignal,
): (entry: Pick<Case, 'target' | 'targetProgram'>) => Promise<TargetIdentity> {
  const known = new Map<string, Promise<TargetIdentity>>()
  const ask = async (program: string): Promise<TargetIdentity> => {
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
  return async ({ target, targetProgram }) => {
    const program =
      targetProgram ??
      (target.binary.includes('/') ? null : findProgram(target.binary, target.env.PATH ?? env.PATH ?? ''))
    if (program === null) return { version: null, fingerprint: null }
    const identity = known.get(program) ?? ask(program)
    known.set(program, identity)
    return identity
  }
}

/** Keys of the request that change what trials do or how they are judged together. */
const decisive = [
  'repeat',
  'timeoutMs',
  'judge',
  'judgeModel',
  'replay',
  'faults',
  'seed',
  'margin',
  'threshold',
  'maxInfraRate',
] as const

/**
 * What the shards of one run must agree on, by what it is of. Values of environment variables are left out: they may be secrets of one
 * machine, and paths on it.
 */
export function planIdentity(facts: {
  readonly request: RunRequest
  readonly planned: readonly ScenarioTrial[]
  readonly cases: readonly Case[]
  readonly agents: ReadonlyMap<string, ResolvedAgent>
  readonly targets: ReadonlyMap<string, TargetIdentity>
  readonly templates: ReadonlyMap<string, string>
  readonly overlays: ReadonlyMap<string, ArmOverlay>
}): Readonly<Record<string, string>> {
  const { request, planned, cases, agents, targets, templates, overlays } = facts
  const fields: [string, unknown][] = [
    ['the version of Gantry', version],
    ['the number of shards', request.shard?.count ?? 1],
    ...cases.flatMap(({ name, source, ownGates, rubric, templateDir }): [string, unknown][] => [
      [`scenario '${name}'`, source.text],
      [`the template of '${name}'`, templates.get(templateDir) ?? null],
      [`the graders of '${name}'`, [rubric?.value ?? null, fingerprintsOf(ownGates)]],
      [`the tool under test of '${name}'`, targets.get(name) ?? null],
    ]),
    ...[...agents].map(([name, agent]): [string, unknown] => [
      `agent '${name}'`,
      [
        agent.driver.name,
        agent.probe.fingerprint,
        Object.keys(agent.env).sort(),
        agent.inheritEnv,
        agent.home,
        agent.modelScript?.text ?? null,
        agent.arm?.guard ?? null,
        overlays.get(name)?.hash ?? null,
      ],
    ]),
    ...decisive.map((key): [string, unknown] => [`'${key}' of the request`, request[key] ?? null]),
    // In pieces: as one text, it would be most of what a large plan needs.
    ['the planned trials', planned.reduce((known, { id }) => sha256(`${known} ${id}`), '')],
  ]
  return Object.fromEntries(fields.map(([name, value]) => [name, cacheKey({ value })]))
}
