/** A line of a TAP document that says how one test ended. */
export interface TapPoint {
  readonly ok: boolean
  readonly number: number
  readonly description: string
  readonly directive: string | null
}

export interface TapDocument {
  readonly version: number
  readonly plan: number
  readonly points: readonly TapPoint[]
}

/** Reads TAP 13 and 14 by their specification alone, and refuses what they do not allow. */
export function readTap(text: string): TapDocument {
  const [first = '', ...lines] = text.split('\n')
  const version = /^TAP version (13|14)$/.exec(first)?.[1]
  if (version === undefined) throw new Error(`no version: ${first}`)
  const points: TapPoint[] = []
  const plans: number[] = []
  let isInYaml = false
  for (const line of lines) {
    if (isInYaml) {
      isInYaml = !/^ {2}\.\.\.$/.test(line)
      continue
    }
    if (line === '' || line.startsWith('#')) continue
    if (/^ {2}---$/.test(line)) {
      if (points.length === 0) throw new Error('a YAML block before any test')
      isInYaml = true
      continue
    }
    const plan = /^1\.\.(\d+)(?: #.*)?$/.exec(line)?.[1]
    if (plan === undefined) points.push(readPoint(line))
    else plans.push(Number(plan))
  }
  const [plan, ...more] = plans
  if (isInYaml || plan === undefined || more.length > 0)
    throw new Error('not one plan, or an open YAML block')
  if (plan !== points.length) throw new Error(`${points.length} tests, ${plan} planned`)
  return { version: Number(version), plan, points }
}

function readPoint(line: string): TapPoint {
  const found = /^(not )?ok (\d+)(?: - | )?((?:\\.|[^\\#])*)(?:#\s*(\S.*))?$/.exec(line)
  if (found === null) throw new Error(`not a line of TAP: ${line}`)
  const [, not, number, description = '', directive] = found
  return {
    ok: not === undefined,
    number: Number(number),
    description: description.replaceAll(/\\([\\#])/g, '$1').trim(),
    directive: directive ?? null,
  }
}
