import { z } from 'zod'

// Kinds of keys in the files that users write, each with the text that becomes its description in the JSON Schema.

export function text(about: string) {
  return z.string().min(1).describe(about)
}

export function optionalText(about: string) {
  return z.string().min(1).optional().describe(about)
}

export function texts(about: string) {
  return z.array(z.string().min(1)).default([]).describe(about)
}

export function flag(initial: boolean, about: string) {
  return z.boolean().default(initial).describe(about)
}

export function choice<const Value extends string>(
  values: readonly Value[],
  initial: NoInfer<Value>,
  about: string,
) {
  return z
    .enum(values)
    .default(initial as never)
    .describe(about)
}

export function optionalChoice<const Value extends string>(values: readonly Value[], about: string) {
  return z.enum(values).optional().describe(about)
}

/** From 1 on. */
export function optionalCount(about: string) {
  return z.int().positive().optional().describe(about)
}

export function optionalAmount(about: string) {
  return z.number().positive().optional().describe(about)
}
