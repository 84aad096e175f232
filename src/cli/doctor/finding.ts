/** One thing doctor looked at. */
export interface Finding {
  readonly area: 'gantry' | 'agents' | 'models' | 'sandboxes'
  readonly name: string
  /** `lacking`: it works less well, or only some uses of it do. `missing`: not usable. */
  readonly status: 'ok' | 'lacking' | 'missing'
  readonly detail: string
  /** The command that would mend it. */
  readonly fix?: string
}
