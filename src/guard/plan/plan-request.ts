import { relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import { GantryError } from '../../core/error.ts'
import { findRoot } from '../../guard-engine/ledger/ledger-place.ts'
import { planCommandSource } from '../../guard-engine/project/command-sources.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { realPath } from '../../io/resolve-links.ts'
import type { Store } from '../../store/contract.ts'
import { openRun } from '../../store/open-run.ts'

/** The request of a plan run, stored with the run so that it can be resumed. */
const planRequestSchema = z.strictObject({
  /** Absolute, real path of the project. */
  root: z.string().min(1),
  /** Path of the plan relative to the root, with `/`. */
  plan: z.string().min(1),
  agent: z.string().min(1),
  model: z.string().min(1).default('default'),
  /** Absolute. */
  configFile: z.string().min(1).optional(),
  /** Maximum attempts at one task. */
  maxAttempts: z.int().positive().default(3),
  /** Maximum over all tasks. The default, and 0, is tasks times attempts. */
  maxIterations: z.int().min(0).optional(),
  maxCostUsd: z.number().positive().optional(),
  /** Time limit of the agent in one iteration. */
  timeoutMs: z
    .int()
    .positive()
    .default(30 * 60_000),
  commit: z.boolean().default(false),
})

export type PlanRequest = z.output<typeof planRequestSchema>

/** Limits that can be changed when a run is resumed. They do not affect what is already done. */
export type PlanLimits = Pick<
  z.input<typeof planRequestSchema>,
  'maxAttempts' | 'maxIterations' | 'maxCostUsd' | 'timeoutMs'
>

export interface NewPlan extends PlanLimits {
  /** Relative paths start here. */
  readonly cwd: string
  /** The project is the one around this directory. Default: around `cwd`. */
  readonly root?: string
  /** Default: IMPLEMENTATION_PLAN.md at the top of the project. */
  readonly plan?: string
  readonly agent?: string
  readonly model?: string
  readonly commit?: boolean
  readonly configFile?: string
}

/** A request with complete paths. Throws GantryError for a plan that is not in the project. */
export function newPlanRequest({ cwd, root: named, plan, configFile, ...rest }: NewPlan): PlanRequest {
  if (rest.agent === undefined) {
    throw new GantryError('USAGE', 'no agent was named', {
      hint: 'Name one with --agent: an agent of gantry.yaml, a driver such as claude-code or builtin, or scripted:PATH.',
    })
  }
  const root = planRoot(cwd, named)
  return planRequestSchema.parse({
    ...rest,
    ...(configFile !== undefined && { configFile: resolve(cwd, configFile) }),
    root,
    plan: plan === undefined ? planCommandSource : planBelow(root, resolve(cwd, plan)),
  })
}

export function planRoot(cwd: string, root = '.'): string {
  const directory = resolve(cwd, root)
  if (isDirectory(directory)) return findRoot(directory)
  throw new GantryError('NOT_FOUND', `${directory} is not a directory`, {
    hint: 'Name the project with --root DIR.',
  })
}

function planBelow(root: string, path: string): string {
  const below = relative(root, realPath(path))
  if (below !== '' && !below.startsWith('..') && !below.startsWith(sep)) return below.split(sep).join('/')
  throw new GantryError('USAGE', `the plan ${path} is not in the project ${root}`, {
    hint: 'Name its project with --root DIR.',
  })
}

/** The original request of a run, with the new limits. */
export function resumedRequest(store: Store, runId: string, limits: PlanLimits): PlanRequest {
  const run = openRun(store, runId)
  const { kind } = run.manifest()
  if (kind !== 'plan') {
    throw new GantryError('USAGE', `${runId} is a ${kind} run, not a plan run`, {
      hint: 'See "gantry runs list --kind plan".',
    })
  }
  const plan = run.plan()
  const frozen = planRequestSchema.safeParse(plan !== null && 'request' in plan ? plan.request : null)
  if (!frozen.success) {
    throw new GantryError('CORRUPT', `the request of ${runId} cannot be read`, {
      hint: 'Start a new run. Ticked boxes stay ticked.',
    })
  }
  return planRequestSchema.parse({ ...frozen.data, ...limits })
}
