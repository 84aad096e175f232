import { compareVersions } from './version.ts'

export interface VersionRange {
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
