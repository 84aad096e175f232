import { z } from 'zod'
import { labelSchema } from '../../judge/labels.ts'
import type { Route, RouteReply } from '../route.ts'
import { json, number, text } from '../route.ts'
import { pluginSchema } from './plugin-view.ts'
import {
  calibrationSchema,
  comparisonListSchema,
  eventPageSchema,
  evidenceSchema,
  flagsBody,
  flagsSchema,
  labelBody,
  labelListSchema,
  removedSchema,
  retentionSchema,
  runListSchema,
  runQuery,
  runSchema,
  runSearchSchema,
  searchSchema,
  trendSchema,
  trialListSchema,
  trialQuery,
  trialSchema,
} from './run-schemas.ts'

const offset = number(z.int().min(0)).default(0)
const position = number(z.int().min(0))
const path = z.string().min(1).max(4_096).meta({ description: 'Relative to the directory of the trial.' })
const truth = z.enum(['true', 'false']).optional()
const follow: RouteReply = {
  status: 200,
  description:
    'Server-sent events: `trial` for each finished trial (a TrialRow), `run` when the run has ended. `id` is the position in trials.jsonl.',
  type: 'text/event-stream',
}

export const runRoutes = {
  listRuns: {
    at: 'GET /v1/runs',
    summary: 'List runs of all kinds, newest first.',
    query: z.strictObject({ ...runQuery, offset, limit: number(z.int().min(1).max(1_000)).default(100) }),
    reply: json(runListSchema, 'A page of runs.'),
  },
  getRun: {
    at: 'GET /v1/runs/{run}',
    summary: 'Get one run: verdict, rates, results by case and agent, comparisons.',
    reply: json(runSchema, 'The run.'),
  },
  pluginRun: {
    at: 'GET /v1/runs/{run}/plugin',
    summary:
      'Get the evaluation of a plugin: components, what fired instead, findings, failures with advice.',
    reply: json(pluginSchema, 'The evaluation.'),
  },
  runFile: {
    at: 'GET /v1/runs/{run}/file',
    summary: 'Get the beginning of a log or report of a run as text.',
    query: z.strictObject({ path: path.meta({ description: 'One of the files of the run.' }) }),
    reply: text('text/plain', 'At most one megabyte.'),
  },
  runEvents: {
    at: 'GET /v1/runs/{run}/events',
    summary: 'Stream the trials of a run as they finish, until the run ends.',
    query: z.strictObject({ after: position.optional() }),
    reply: follow,
  },
  searchRun: {
    at: 'GET /v1/runs/{run}/search',
    summary: 'Find a text in the event logs of all trials of a run, a part of the run at a time.',
    query: z.strictObject({
      text: z.string().min(1).max(500),
      after: z
        .string()
        .max(300)
        .regex(/^[^:]+(?::\d{1,15})?$/)
        .optional(),
    }),
    reply: json(runSearchSchema, 'Some events of each trial, and where the search goes on.'),
  },
  listTrials: {
    at: 'GET /v1/runs/{run}/trials',
    summary: 'List finished trials of a run.',
    query: z.strictObject({ ...trialQuery, offset, limit: number(z.int().min(1).max(1_000)).default(100) }),
    reply: json(trialListSchema, 'A page of trials.'),
  },
  getTrial: {
    at: 'GET /v1/runs/{run}/trials/{trial}',
    summary: 'Get one trial: record, gates, changed files, scenario.',
    reply: json(trialSchema, 'The trial.'),
  },
  trialEvidence: {
    at: 'GET /v1/runs/{run}/trials/{trial}/evidence',
    summary: 'Get the events, files and lines that each gate of a trial rests on.',
    reply: json(evidenceSchema, 'A list for each gate.'),
  },
  trialEvents: {
    at: 'GET /v1/runs/{run}/trials/{trial}/events',
    summary: 'Get a part of the event log of a trial.',
    query: z.strictObject({
      from: position.optional().meta({ description: 'Position of a line. Default: the first.' }),
      before: position.optional().meta({ description: 'The part that ends there instead.' }),
      limit: number(z.int().min(1).max(2_000)).default(300),
      whole: truth.meta({ description: 'Long texts are not cut.' }),
    }),
    reply: json(eventPageSchema, 'Events and where the next part begins.'),
  },
  searchTrial: {
    at: 'GET /v1/runs/{run}/trials/{trial}/search',
    summary: 'Find a text in the event log of a trial.',
    query: z.strictObject({ text: z.string().min(1).max(500), from: offset }),
    reply: json(searchSchema, 'Positions of events.'),
  },
  trialDiff: {
    at: 'GET /v1/runs/{run}/trials/{trial}/diff',
    summary: 'Get what the agent changed in the workspace, all of it or one file.',
    query: z.strictObject({ path: path.optional() }),
    reply: text('text/x-diff', 'A unified diff.'),
  },
  trialFile: {
    at: 'GET /v1/runs/{run}/trials/{trial}/file',
    summary: 'Get the beginning of a file of a trial as text.',
    query: z.strictObject({ path }),
    reply: text('text/plain', 'At most one megabyte.'),
  },
  flagRun: {
    at: 'POST /v1/runs/{run}/flags',
    summary: 'Pin or bless a run, or undo it.',
    body: flagsBody,
    reply: json(flagsSchema, 'The flags of the run.'),
  },
  deleteRun: {
    at: 'DELETE /v1/runs/{run}',
    summary: 'Delete a run with its files, unless it is running.',
    reply: json(removedSchema, 'What became of it.'),
    problems: [409],
  },
  retention: {
    at: 'GET /v1/retention',
    summary: 'Say which runs the next cleaning removes, and why others stay.',
    reply: json(retentionSchema, 'The plan.'),
  },
  compare: {
    at: 'GET /v1/comparisons',
    summary: 'Compare runs, or agents, arms or models of runs (RUN:NAME), with the first of them.',
    query: z.strictObject({
      sides: z
        .string()
        .min(1)
        .max(4_000)
        .meta({ description: 'Two to ten names, separated by commas, each percent-encoded.' }),
      margin: z
        .string()
        .regex(/^0?\.\d{1,4}$/)
        .optional()
        .meta({ description: 'Differences up to this do not matter. Default 0.05.' }),
    }),
    reply: json(comparisonListSchema, 'Each further side against the first; p by Holm.'),
    problems: [404],
  },
  trends: {
    at: 'GET /v1/trends',
    summary: 'Get pass rate, cost and time over runs.',
    query: z.strictObject({
      case: z.string().max(500).optional(),
      agent: z.string().max(200).optional(),
      model: z.string().max(200).optional(),
      limit: number(z.int().min(1).max(1_000)).default(200),
    }),
    reply: json(trendSchema, 'A point for each run, agent and model, oldest first.'),
  },
  listLabels: {
    at: 'GET /v1/labels',
    summary: 'Get the labels of the project, the newest first.',
    reply: json(labelListSchema, 'The labels.'),
  },
  calibration: {
    at: 'GET /v1/calibration',
    summary: 'Say how far each judge agrees with the labels. Reads the trials of all runs.',
    reply: json(calibrationSchema, 'The judges.'),
  },
  labelTrial: {
    at: 'POST /v1/runs/{run}/trials/{trial}/label',
    summary: 'Say whether the result of a trial is good. The last label counts.',
    body: labelBody,
    reply: json(labelSchema, 'The label.'),
    problems: [409],
  },
} as const satisfies Record<string, Route>
