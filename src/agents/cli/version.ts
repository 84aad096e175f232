/** `1.2.3` or `1.2.3-beta.1` somewhere in what a program prints about itself; null when there is none. */
export function parseVersion(text: string): string | null {
  return /(?<![\w.])v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)/.exec(text)?.[1] ?? null
}

/** Negative when `a` is older than `b`. A pre-release is older than its release. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [split(a), split(b)]
  for (const index of [0, 1, 2]) {
    const difference = (one.numbers[index] ?? 0) - (other.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  if (one.pre === other.pre) return 0
  if (one.pre === '') return 1
  if (other.pre === '') return -1
  return one.pre < other.pre ? -1 : 1
}

function split(version: string): { readonly numbers: readonly number[]; readonly pre: string } {
  const dash = version.indexOf('-')
  const core = dash === -1 ? version : version.slice(0, dash)
  return { numbers: core.split('.').map(Number), pre: dash === -1 ? '' : version.slice(dash + 1) }
}

interface VersionRange {
  /** What the user knows it by. */
  readonly name: string
  readonly supported: { readonly from: string; readonly below: string }
  readonly install: string
}

/** Too old cannot be worked with; too new may work, and its user is warned. */
export function judgeVersion(
  { name, supported: { from, below }, install }: VersionRange,
  version: string,
): { readonly usable: boolean; readonly problem: string | null } {
  if (compareVersions(version, from) < 0) {
    const problem = `${name} ${version} is older than ${from}, which this driver needs; update it with: ${install}`
    return { usable: false, problem }
  }
  if (compareVersions(version, below) < 0) return { usable: true, problem: null }
  return {
    usable: true,
    problem: `${name} ${version} is newer than this driver knows (below ${below}); what it prints may be misread.`,
  }
}
