import { z } from 'zod'

/** Kinds of values that several keys of a plugin evaluation have. */
export const path = z.string().min(1)

export const modelName = z
  .string()
  .min(1)
  .default('default')
  .describe(
    '`default`, `opus`, `sonnet`, `haiku`, a version such as `sonnet-4.5`, another name of a model of Anthropic, or `provider:model`.',
  )

export const effort = z.enum(['none', 'low', 'medium', 'high'])
export const perSecond = z.number().min(0.1).max(100).optional()
export const apiTimeout = z.int().min(5_000).max(300_000)
export const temperature = z.number().min(0).max(1)
