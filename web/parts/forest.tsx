interface Row {
  readonly name: string
  readonly value: number | null
  readonly low: number | null
  readonly high: number | null
  readonly text: string
}

const [left, plot, height] = [150, 420, 26]

/** Values with their intervals on one axis, and a line where nothing would have changed. */
export function Forest({
  rows,
  from,
  to,
  zero,
  margin = 0,
  label,
}: {
  readonly rows: readonly Row[]
  readonly from: number
  readonly to: number
  readonly zero: number
  /** Differences inside of it do not matter. */
  readonly margin?: number
  readonly label: string
}) {
  const x = (value: number): number =>
    left + ((Math.max(from, Math.min(to, value)) - from) / (to - from)) * plot
  const bottom = rows.length * height
  return (
    <div className="scroll-x" tabIndex={0}>
      <svg
        className="forest"
        viewBox={`0 0 ${left + plot + 190} ${bottom + 6}`}
        role="img"
        aria-label={`${label}: ${rows.map(({ name, text }) => `${name} ${text}`).join('; ')}`}
      >
        {margin > 0 && (
          <rect
            x={x(zero - margin)}
            y={0}
            width={x(zero + margin) - x(zero - margin)}
            height={bottom}
            className="forest-margin"
          />
        )}
        <line x1={x(zero)} x2={x(zero)} y1={0} y2={bottom} className="forest-zero" />
        {rows.map(({ name, value, low, high, text }, index) => {
          const y = index * height + height / 2
          return (
            <g key={name}>
              <text x={0} y={y + 4}>
                {name.length > 22 ? `${name.slice(0, 21)}…` : name}
              </text>
              {low !== null && high !== null && (
                <line x1={x(low)} x2={x(high)} y1={y} y2={y} className="forest-range" />
              )}
              {value !== null && <circle cx={x(value)} cy={y} r={4.5} className="forest-value" />}
              <text x={left + plot + 12} y={y + 4}>
                {text}
              </text>
            </g>
          )
        })}
      </svg>
    </div>
  )
}
