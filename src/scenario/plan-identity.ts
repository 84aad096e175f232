import type { ResolvedAgent } from '../config/resolve-agent.ts'
import { version } from '../core/version.ts'
import { sha256 } from '../io/sha256.ts'
import { cacheKey } from '../store/cache.ts'
import type { Case } from './case.ts'
import type { ArmOverlay } from './overlays.ts'
import type { ScenarioTrial } from './plan.ts'
import type { RunRequest } from './request.ts'
import type { TargetIdentity } from './trial-key.ts'

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
      [
        `the graders of '${name}'`,
        [
          rubric?.value ?? null,
          ownGates.map(({ definition, fingerprint }) => [definition.type, fingerprint]),
        ],
      ],
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
