import { z } from 'zod'

const level = z.enum(['low', 'medium', 'high'])

/** Scout A, the codebase mapper: schema version 1, exactly. */
export const scoutAReportSchema = z.strictObject({
  schema_version: z.literal('1'),
  repo_map: z.strictObject({
    relevant_files: z.array(
      z.strictObject({
        path: z.string().min(1),
        purpose: z.string(),
        relevance: z.enum(['primary', 'secondary', 'context']),
      }),
    ),
    entry_points: z.array(z.string()),
    dependency_graph: z.record(z.string(), z.unknown()),
  }),
  risk_zones: z.array(
    z.strictObject({
      file: z.string().min(1),
      start_line: z.int(),
      end_line: z.int(),
      risk_level: level,
      complexity: level,
      dependencies: z.array(z.string()),
      invariants: z.array(z.string()),
      rationale: z.string(),
    }),
  ),
  change_boundaries: z.strictObject({
    safe_slices: z.array(
      z.strictObject({
        id: z.string(),
        files: z.array(z.string()),
        description: z.string(),
        complexity: level,
        order: z.int().nullable(),
      }),
    ),
    ordering_constraints: z.array(z.string()),
  }),
  conventions: z.strictObject({
    naming: z.string(),
    patterns: z.array(z.string()),
    anti_patterns: z.array(z.string()),
  }),
  prior_art: z.array(
    z.strictObject({ file: z.string().min(1), description: z.string(), relevance: z.string() }),
  ),
  verification_tips: z.array(z.string()),
  hypotheses: z.array(z.string()),
})

export type ScoutAReport = z.output<typeof scoutAReportSchema>

/** Scout B, the build and test detective: schema version 1, exactly. */
export const scoutBReportSchema = z.strictObject({
  schema_version: z.literal('1'),
  build: z
    .strictObject({
      detected_system: z.enum(['npm', 'yarn', 'pnpm', 'make', 'cargo', 'go', 'gradle', 'maven', 'custom']),
      commands: z.strictObject({
        install: z.string().nullish(),
        build: z.string(),
        clean: z.string().nullish(),
      }),
      prerequisites: z.array(z.string()),
      notes: z.string(),
    })
    .nullish(),
  test: z
    .strictObject({
      detected_framework: z.enum([
        'jest',
        'vitest',
        'pytest',
        'go test',
        'cargo test',
        'junit',
        'mocha',
        'custom',
      ]),
      commands: z.strictObject({
        all: z.string(),
        unit: z.string().nullish(),
        integration: z.string().nullish(),
      }),
      coverage_command: z.string().nullable(),
      notes: z.string(),
    })
    .nullish(),
  failure_analysis: z
    .strictObject({
      root_cause: z.string(),
      affected_files: z.array(z.string()),
      suggested_investigation: z.array(z.string()),
      is_flaky: z.boolean(),
      flaky_reason: z.string().nullish(),
    })
    .nullish(),
  environment_issues: z.array(
    z.strictObject({
      issue: z.string(),
      severity: z.enum(['blocking', 'warning']),
      suggested_fix: z.string(),
    }),
  ),
})

export type ScoutBReport = z.output<typeof scoutBReportSchema>
