"""What the start scripts of Apache Kafka pass to the JVM."""

JVM_FLAGS = (
    *("-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35"),
    *("-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true"),
)
CONNECT_HEAP = ("-Xms256M", "-Xmx2G")
