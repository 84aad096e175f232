import { z } from 'zod'
import type { Explanation } from '../../guard/explain.ts'
import type { TraceReport } from '../../guard/trace/trace-report.ts'
import { named, shared } from '../api-schemas.ts'
import { json, number, type Route } from '../route.ts'

const report = shared<TraceReport>('TraceReport', 'src/guard/trace/trace-report.ts', 'Figures of a session.')
const explanation = shared<Explanation>(
  'Explanation',
  'src/guard/explain.ts',
  'A decision of the guard and what it was based on.',
)

const text = z.string().nullable()

export const guardSessionRow = named(
  'GuardSession',
  z.object({
    id: z.string(),
    session: z.string().meta({ description: 'As the agent calls it.' }),
    directory: z.string(),
    agent: z.string(),
    started_at: z.string(),
    last_at: z.string(),
    calls: z.int(),
    denials: z.int().meta({ description: 'Calls that the guard did not allow.' }),
    refusals: z.int().meta({ description: 'Stops that the guard did not accept.' }),
    end: z
      .string()
      .nullable()
      .meta({ description: 'VERIFIED, CAPPED, WAIVED or INFRA; null: nothing was accepted.' }),
    end_why: text,
  }),
)
export type GuardSessionRow = z.output<typeof guardSessionRow>

export const guardMoment = named(
  'GuardMoment',
  z.object({
    id: z.string(),
    at: z.string(),
    kind: z.string().meta({ description: 'Kind of the hook event, or note.' }),
    agent_id: text.meta({ description: 'A subagent.' }),
    tool: text,
    call_id: text.meta({ description: 'Id of the tool call, as the agent names it.' }),
    title: z.string(),
    result: z.enum(['success', 'failure', 'denied', 'unknown']).nullable(),
    exit_code: z.int().nullable(),
    duration_ms: z.number().nullable(),
    verdict: z.enum(['pass', 'deny', 'refuse']),
    reason: text,
    notice: text,
    rules: z.array(z.string()).meta({ description: 'Those that had something to say.' }),
    notes: z.array(z.string()).meta({ description: 'What the guard remembered.' }),
    decision: text.meta({ description: 'Ask for it with ?id= to get the explanation.' }),
  }),
)
export type GuardMoment = z.output<typeof guardMoment>

export const guardRoutes = {
  guardSessions: {
    at: 'GET /v1/guard/sessions',
    summary: 'List sessions of guarded agents in all projects, newest first.',
    query: z.strictObject({ limit: number(z.int().min(1).max(1_000)).default(100) }),
    reply: json(
      named('GuardSessionList', z.object({ sessions: z.array(guardSessionRow), total: z.int() })),
      'The sessions.',
    ),
  },
  guardSession: {
    at: 'GET /v1/guard/sessions/{session}',
    summary: 'Get one session: calls, denials, loops, evidence by command over time, how it ended.',
    reply: json(
      named(
        'GuardSessionPage',
        z.object({
          row: guardSessionRow,
          moments: z.array(guardMoment),
          left_out: z.int().meta({ description: 'Older moments that are not in the list.' }),
          evidence: z.array(
            z.object({
              command: z.string(),
              points: z
                .array(z.object({ at: z.string(), status: z.string() }))
                .meta({ description: 'Changes of its status: green, red, stale, hollow or missing.' }),
            }),
          ),
          report,
          ledger: z.string(),
          damaged: z.int().meta({ description: 'Lines that the guard did not write, or that are cut.' }),
        }),
      ),
      'The session.',
    ),
  },
  guardDecision: {
    at: 'GET /v1/guard/sessions/{session}/decision',
    summary:
      'Explain a decision of the guard: event with its payload, rules, evidence, what would change it.',
    query: z.strictObject({ id: z.string().min(1).max(100) }),
    reply: json(explanation, 'The explanation.'),
  },
} as const satisfies Record<string, Route>
