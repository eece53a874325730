function withRest(whole: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${whole}${unit}` : `${whole}${unit}${rest}${restUnit}`;
}

const hoursPerDay = 24;
const daysPerYear = 365;

/** As Kubernetes writes ages in tables (k8s.io/apimachinery/pkg/util/duration, HumanDuration). */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 2 * hoursPerDay) return `${hours}h`;
  const days = Math.trunc(hours / hoursPerDay);
  if (days < 8) return withRest(days, 'd', hours % hoursPerDay, 'h');
  if (days < 2 * daysPerYear) return `${days}d`;
  const years = Math.trunc(days / daysPerYear);
  return years < 8 ? withRest(years, 'y', days % daysPerYear, 'd') : `${years}y`;
}
