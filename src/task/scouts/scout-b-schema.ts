import { z } from 'zod'

/** Scout B, the build and test detective: schema version 1, exactly. */
export const scoutBSchema = z.strictObject({
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

export type ScoutBReport = z.output<typeof scoutBSchema>
