import { z } from 'zod'
import { type Setting, settingGroups, settingTable } from '../guard-engine/settings/setting-table.ts'

const settings: readonly (readonly [string, Setting])[] = Object.entries(settingTable)

/** The key `guard` of gantry.yaml. The guard reads the values itself and must not load this schema. */
export const guardSchema: z.ZodObject = groupSchema('', {})

/** harness.json: the same keys, and a reference to this schema for editors. */
export const harnessSchema: z.ZodObject = groupSchema('', {
  $schema: z.string().optional().describe('Location of the schema of this file, for editors.'),
})

function groupSchema(group: string, first: Record<string, z.ZodType>): z.ZodObject {
  const prefix = group === '' ? '' : `${group}.`
  const shape: Record<string, z.ZodType> = { ...first }
  for (const [path, setting] of settings) {
    const [key = '', ...deeper] = path.startsWith(prefix) ? path.slice(prefix.length).split('.') : []
    if (key === '' || shape[key] !== undefined) continue
    shape[key] =
      deeper.length === 0
        ? valueSchema(setting).optional().meta(noteOf(setting))
        : groupSchema(prefix + key, {})
            .optional()
            .describe(settingGroups[prefix + key] ?? '')
  }
  return z.strictObject(shape)
}

/** Not zod's default, because a filled-in value could not be distinguished from one in the file. */
function noteOf({ about, variable, initial }: Setting): { description: string; default: unknown } {
  const override = variable === undefined ? '' : ` ${variable} in the environment takes precedence.`
  return { description: about + override, default: initial }
}

function valueSchema({ kind, min, max, pattern, choices = [] }: Setting): z.ZodType {
  switch (kind) {
    case 'flag':
      return z.boolean()
    case 'whole':
      return between(z.int(), min, max)
    case 'amount':
      return between(z.number(), min, max)
    case 'text':
      return pattern === undefined ? z.string().min(1) : z.string().regex(new RegExp(pattern))
    case 'texts':
      return z.array(pattern === undefined ? z.string().min(1) : z.string().regex(new RegExp(pattern)))
    case 'choice':
      return z.enum(choices)
  }
}

function between(schema: z.ZodNumber, min?: number, max?: number): z.ZodNumber {
  const above = min === undefined ? schema : schema.min(min)
  return max === undefined ? above : above.max(max)
}
