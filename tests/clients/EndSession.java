import com.sun.tools.attach.VirtualMachine;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** Does what the printed commands do with jmxterm: finds the only bean whose name ends so, and runs its operation. */
public class EndSession {
    public static void main(String[] arguments) throws Exception {
        String address = VirtualMachine.attach(arguments[0]).startLocalManagementAgent();
        try (var connector = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
            MBeanServerConnection beans = connector.getMBeanServerConnection();
            var found = beans.queryNames(null, null).stream().filter(name -> name.toString().endsWith(arguments[1])).toList();
            System.out.println(found);
            for (ObjectName bean : found) {
                beans.invoke(bean, arguments[2], null, null);
            }
        }
    }
}
