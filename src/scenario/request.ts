import { z } from 'zod'
import { replayModes } from '../models/boundary/model-link.ts'
import { judgeBatchModes } from './judge-batch.ts'

const names = z.array(z.string()).default([])

/**
 * What a run was asked to do, as plain data: it is frozen with the plan, so that `--resume` needs no other word. What it
 * leaves out comes from gantry.yaml or is default.
 */
export const runRequestSchema = z.object({
  /** Files, directories, globs or names of scenarios. */
  paths: names,
  cwd: z.string(),
  configFile: z.string().optional(),
  filters: names,
  tags: names,
  allTags: z.boolean().default(false),
  tier: z.number().optional(),
  agents: names,
  models: names,
  profile: z.string().optional(),
  /** From the environment: used when nothing else names an agent. */
  defaultAgent: z.string().optional(),
  repeat: z.int().min(1).default(1),
  shard: z.object({ index: z.int(), count: z.int() }).optional(),
  targetBinary: z.string().optional(),
  timeoutMs: z.number().positive().optional(),
  judge: z.boolean().default(true),
  judgeModel: z.string().optional(),
  judgeBatch: z.enum(judgeBatchModes).default('auto'),
  cache: z.boolean().default(true),
  maxCostUsd: z.number().positive().optional(),
  maxTimeMs: z.number().positive().optional(),
  /** Pass rate every case must reach. */
  threshold: z.number().min(0).max(1).default(1),
  maxInfraRate: z.number().min(0).max(1).default(0.05),
  infraRetries: z.int().min(0).default(2),
  /** How long one trial may wait for a rate limit to pass. */
  maxPauseMs: z
    .number()
    .min(0)
    .default(15 * 60_000),
  /** Whether the traffic between agents and models is recorded or replayed. */
  replay: z.enum(replayModes).default('off'),
  /** Where cassettes are, instead of the configuration's place. */
  cassettes: z.string().optional(),
  /** Broken exchanges, in the short form of `--fault`. */
  faults: names,
  concurrency: z.int().min(1).default(2),
  /** Run id, or `blessed` for the newest blessed run of these scenarios. */
  baseline: z.string().optional(),
  seed: z.int().default(1),
  /** Only these trials of the plan, by case, agent, model and attempt. */
  only: z
    .array(z.object({ case: z.string(), agent: z.string(), model: z.string(), attempt: z.int() }))
    .optional(),
})

export type RunRequest = z.output<typeof runRequestSchema>
export type RunRequestInput = z.input<typeof runRequestSchema>
